// What a person sees who opens the base URL in a browser: the base URLs, and with a key the models and a call to try. One
// answer without anything from elsewhere: script and style stand in it, allowed by their hashes alone.
import { sha256Hex } from '../../foundation/ids/index.ts';
import { script } from './landing-script.ts';

/** Colours, text and controls are those of the console. */
const style = `
:root {
  color-scheme: light dark; --page: light-dark(#fbfbfc, #14161a); --panel: light-dark(#ffffff, #1c1f25);
  --text: light-dark(#1a1d23, #e8eaee); --muted: light-dark(#565d6b, #a3abb9); --line: light-dark(#dde0e6, #333943);
  --field: light-dark(#8a92a0, #6f7787); --accent: light-dark(#2257c7, #82aaff); --on-accent: light-dark(#ffffff, #0d1424);
  --control-height: 2.25rem; font: 15px / 1.5 system-ui, sans-serif; background: var(--page); color: var(--text);
}
* { box-sizing: border-box; }
body { margin: 0; }
header { background: var(--panel); border-bottom: 1px solid var(--line); }
header p, main { max-width: 76rem; margin: 0 auto; padding: 0.6rem 1.25rem; }
header p { display: flex; line-height: var(--control-height); }
header strong { font-size: 1.15rem; }
main { padding-block: 0.75rem 3rem; }
h1 { font-size: 1.4rem; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: 1.75rem 0 0.5rem; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
code, pre { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre, #answer { padding: 0.75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; }
#answer { min-height: 3rem; }
#answer:empty { min-height: 0; padding: 0; border: 0; }
form { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); }
.line { grid-column: 1 / -1; display: flex; gap: 0.5rem; margin: 0; }
label { display: grid; gap: 0.25rem; font-size: 0.85rem; color: var(--muted); }
label.line { display: grid; gap: 0.25rem; }
input, textarea, button { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--field);
  border-radius: 6px; padding: 0.35rem 0.6rem; min-width: 0; min-height: var(--control-height); }
input, textarea { font-size: 0.95rem; width: 100%; }
input, button { height: var(--control-height); }
::placeholder { color: var(--muted); opacity: 1; }
button { cursor: pointer; padding-inline: 0.8rem; }
button.main { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; background: var(--panel); border: 1px solid var(--line); }
caption { padding-block: 0.4rem; text-align: left; color: var(--muted); }
th, td { padding: 0.4rem 0.7rem; text-align: left; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-size: 0.8rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
[data-lacks]::after { content: attr(data-lacks); visibility: hidden; }
@media (max-width: 48rem) {
  :root { --control-height: 2.5rem; }
  header p, main { padding-inline: 0.75rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, caption, tbody, tr { display: block; }
  tr, caption { padding: 0.4rem 0.7rem; }
  tr { border-bottom: 1px solid var(--line); }
  td { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: 0.5rem; padding: 0.15rem 0; border: 0;
    overflow-wrap: anywhere; }
  td, td.number { text-align: left; }
  td:first-child { display: block; font-weight: 600; }
  td:not(:first-child)::before { content: attr(data-title); color: var(--muted); }
  td:empty { display: none; }
}
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
<header><p><strong>gw</strong></p></header>
<main>
<h1>A gateway for large language models</h1>
<p>One URL in the chat-completions format in front of every provider.</p>
<p>Base URL for OpenAI's SDKs and frameworks: <code id="openai-base">/openai/v1</code><br>
Base URL for everything else: <code id="base">/v1</code></p>
<pre id="curl"></pre>
<p><a href="/openapi.json">OpenAPI</a> · <a href="/health">Health</a></p>
<h2>Try it</h2>
<form id="try">
<label>API key (stays in this page)
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="sk-gw-…"></label>
<label>Model or function
<input id="model" list="model-ids" value="auto" spellcheck="false"></label>
<datalist id="model-ids"></datalist>
<label class="line">Message
<textarea id="prompt" rows="3">Hello</textarea></label>
<p class="line"><button class="main" type="submit">Send</button><button id="list" type="button">Show models</button></p>
</form>
<p id="status" role="status"></p>
<p id="answer" aria-live="polite"></p>
<div class="wide" id="models-table" hidden>
<table>
<caption>Prices in USD per million tokens</caption>
<thead><tr><th>id</th><th class="number">context</th><th class="number">input</th><th class="number">output</th><th>routable</th><th>providers</th></tr></thead>
<tbody id="models"></tbody>
</table>
</div>
</main>
<script>${script}</script>
</html>
`;
