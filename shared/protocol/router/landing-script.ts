// What the landing page does, in the browser: lists the models of a key and tries a call. What comes from the gateway goes
// into the page as text only: nothing that a model answers is taken for markup.

export const script = `
'use strict';
const part = (id) => document.getElementById(id);
const say = (id, text) => { part(id).textContent = text; };
for (const [id, path] of [['openai-base', '/openai/v1'], ['base', '/v1']]) say(id, location.origin + path);
say('curl', 'curl ' + location.origin + '/v1/chat/completions -H "Authorization: Bearer $GW_API_KEY" \\\\\\n' +
  '  -d \\'{"model": "auto", "messages": [{"role": "user", "content": "Hello"}]}\\'');

const call = (path, options) =>
  fetch(path, { ...options, headers: { authorization: 'Bearer ' + part('key').value.trim(), ...options?.headers } });

async function failureOf(response) {
  const { error, message } = await response.json().catch(() => ({}));
  return (error ?? 'HTTP ' + response.status) + ': ' + (message ?? response.statusText);
}

function cell(row, title, text) {
  const made = document.createElement('td');
  made.dataset.title = title;
  const inner = document.createElement('span');
  inner.textContent = text;
  if (text !== '') made.append(inner);
  row.append(made);
  return made;
}

const numbers = { context: 'context_length', input: 'input_price_per_million', output: 'output_price_per_million' };
// Cents at least.
const shownOf = (value) => typeof value === 'number' ? value.toLocaleString('en') :
  (value ?? '').replace(/^\\d+$/, '$&.00').replace(/\\.\\d$/, '$&0');
const decimalsOf = (value) => (shownOf(value).split('.')[1] ?? '').length;

function showModels(models) {
  const rows = [];
  const options = [];
  for (const model of models) {
    const row = document.createElement('tr');
    cell(row, 'id', model.id);
    for (const [title, name] of Object.entries(numbers)) {
      const made = cell(row, title, shownOf(model[name]));
      made.className = 'number';
      // The digits that it lacks take their place unseen: points stand below each other.
      const own = decimalsOf(model[name]);
      const most = Math.max(...models.map((one) => decimalsOf(one[name])));
      if (own < most) made.firstChild?.setAttribute('data-lacks', (own === 0 ? '.' : '') + '0'.repeat(most - own));
    }
    cell(row, 'routable', model.routable === undefined ? '' : model.routable ? 'yes' : 'no');
    cell(row, 'providers', (model.providers ?? []).map(({ provider }) => provider).join(', '));
    rows.push(row);
    const option = document.createElement('option');
    option.value = model.id;
    options.push(option);
  }
  part('models').replaceChildren(...rows);
  part('model-ids').replaceChildren(...options);
  part('models-table').hidden = false;
}

async function listModels() {
  say('status', 'Reading the models …');
  const response = await call('/v1/models?functions=true');
  if (!response.ok) return say('status', await failureOf(response));
  const { data } = await response.json();
  showModels(data);
  say('status', data.length + ' models and functions.');
}

function showEvent(event, facts) {
  if (event === '[DONE]') return;
  const { choices, usage, error } = JSON.parse(event);
  for (const { delta } of choices ?? []) part('answer').textContent += delta?.content ?? '';
  if (usage) facts.usage = usage;
  if (error) facts.error = error.code + ': ' + error.message;
}

async function readEvents(body, facts) {
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\\n');
    rest = lines.pop();
    for (const line of lines) if (line.startsWith('data: ')) showEvent(line.slice(6), facts);
  }
}

async function tryCall() {
  const model = part('model').value.trim();
  const isFunction = model.startsWith('gw/function/');
  const body = { model, messages: [{ role: 'user', content: part('prompt').value }] };
  say('answer', '');
  say('status', 'Waiting for the first output …');
  const startedAt = performance.now();
  const headers = { 'content-type': 'application/json' };
  const more = isFunction ? {} : { stream: true, usage: { include: true } };
  const sent = JSON.stringify({ ...body, ...more });
  const response = await call('/v1/chat/completions', { method: 'POST', headers, body: sent });
  if (!response.ok) return say('status', await failureOf(response));
  const facts = {};
  if (isFunction) {
    const answer = await response.json();
    say('answer', answer.choices?.[0]?.message?.content ?? '');
    facts.usage = answer.usage;
  } else await readEvents(response.body, facts);
  const { usage = {}, error } = facts;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say('status', error ?? [usage.model, usage.provider && 'at ' + usage.provider, usage.cost_usd && usage.cost_usd + ' USD', seconds + ' s',
    'id ' + response.headers.get('x-request-id')].filter(Boolean).join(', '));
}

const guarded = (run) => async (event) => {
  event.preventDefault();
  try {
    if (part('key').value.trim() === '') say('status', 'Enter a key first: sk-gw-…');
    else await run();
  } catch (error) {
    say('status', 'The gateway could not be reached: ' + error.message);
  }
};
part('list').addEventListener('click', guarded(listModels));
part('try').addEventListener('submit', guarded(tryCall));
`;
