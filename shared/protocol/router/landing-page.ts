// What a person sees who opens the base URL in a browser: the base URLs, and with a key the models and a call to try. One
// answer without anything from elsewhere: script and style stand in it, allowed by their hashes alone.
import { sha256Hex } from '../../foundation/ids/index.ts';
import { script } from './landing-script.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre, textarea, input { font: 0.9rem/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; }
label { display: block; margin: 0.75rem 0 0.25rem; }
input, textarea { box-sizing: border-box; width: 100%; padding: 0.4rem; }
button { margin: 0.75rem 0.5rem 0 0; padding: 0.4rem 1rem; font: inherit; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; white-space: nowrap; }
td.number { text-align: right; }
#answer { white-space: pre-wrap; min-height: 3rem; }
`;

const sourceHash = (text: string): string => `'sha256-${Buffer.from(sha256Hex(text), 'hex').toString('base64')}'`;

export interface LandingPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

/** Made with the first request for it. */
export const makeLandingPage = (): LandingPage => ({ headers: headers(), html });

const headers = (): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${sourceHash(script)}`,
    `style-src ${sourceHash(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gw</title>
<style>${style}</style>
<main>
<h1>gw</h1>
<p>A gateway for large language models: one URL in the chat-completions format in front of every provider.</p>
<p>Base URL for OpenAI's SDKs and frameworks: <code id="openai-base">/openai/v1</code><br>
Base URL for everything else: <code id="base">/v1</code></p>
<pre id="curl"></pre>
<p><a href="/openapi.json">OpenAPI</a> · <a href="/health">Health</a></p>
<h2>Try it</h2>
<form id="try">
<label for="key">API key (stays in this page)</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="sk-gw-…">
<label for="model">Model or function</label>
<input id="model" list="model-ids" value="auto" spellcheck="false">
<datalist id="model-ids"></datalist>
<label for="prompt">Message</label>
<textarea id="prompt" rows="3">Hello</textarea>
<button type="submit">Send</button><button id="list" type="button">Show models</button>
</form>
<p id="status" role="status"></p>
<p id="answer" aria-live="polite"></p>
<div class="wide" id="models-table" hidden>
<table>
<caption>Prices in USD per million tokens</caption>
<thead><tr><th>id</th><th>context</th><th>input</th><th>output</th><th>routable</th><th>providers</th></tr></thead>
<tbody id="models"></tbody>
</table>
</div>
</main>
<script>${script}</script>
</html>
`;
