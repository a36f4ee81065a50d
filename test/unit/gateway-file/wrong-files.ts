// Each row has the fault, the text of the example and its replacement (\n: a line ends), the path of the problem, and
// its message. E is the first entry of the first model, W the first workspace, R the first revision of its function.
// After a path, + says that the items naming it have problems too. KEY is the key of the example, SECRET a credential.
import { exampleKey } from './example-file.ts';

export const secret = 'gsk_Abcd0123456789abcdefghij';

const table = String.raw`
a price without quotes | "2.50" → 2.50 | E.input_price_per_million | in quotes
a price with seven decimals | "2.50" → "2.5000001" | E.input_price_per_million | six decimals
a negative price | "2.50" → "-1" | E.input_price_per_million | USD per million
half a price | "10.00"\n → null\n | E.output_price_per_million | half a price
a missing price | \n        input_price_per_million: "2.50" → | E.input_price_per_million | is required
a limit of zero | rate_limit_rpm: 600 → rate_limit_rpm: 0 | E.rate_limit_rpm | null means no limit
a size with a fraction | 16384 → 1.5 | E.max_output_tokens | whole number
an extra that is none | json_schema: true → extras: [plugins, web] | E.supported_params.extras[1] | web_search
a provider that is not there | - provider: acme → - provider: acmee | E.provider | there is no provider "acmee" in providers; did you mean acme?
a model under the reserved prefix | id: acme/small-1 → id: gw/small-1 | models[1].id + | function aliases
a model named auto | id: acme/small-1 → id: auto | models[1].id + | defines that model itself
a negative creation time | created: 1760000000 → created: -1 | models[0].created | seconds
a mistyped word | [text, image] → [text, images] | models[0].modalities[1] | must be one of text, image, audio, video, file, not "images"; did you mean image?
an unknown section | workspaces: → zzz: 1\nworkspaces: | zzz | known are service, providers, models, guardrails, workspaces
an unknown member | reasoning_style: effort → resoning_style: effort | providers[0].resoning_style | did you mean reasoning_style?
a member of another place | reasoning_style: effort → rate_limit_rpm: 60 | providers[0].rate_limit_rpm | is not known here; it is a member of models[].providers[]
a missing member | \n    base_url: https://api.acme.example/v1 → | providers[0].base_url | is required
a base URL of another scheme | https://api.acme → ftp://api.acme | providers[0].base_url | https://
a base URL with credentials | https://api → https://me:secret@api | providers[0].base_url | use auth
a base URL with a query | example/v1 → example/v1?a=b | providers[0].base_url | query
a base URL with the path that is appended | example/v1 → example/v1/chat/completions/ | providers[0].base_url | appends
an address of SageMaker at which another path is called | https://api.acme.example/v1 → https://runtime.sagemaker.eu-west-1.amazonaws.com/endpoints/chat/invocations | providers[0].base_url | endpoints/NAME/openai/v1
an address of watsonx.ai that wants a version | https://api.acme.example/v1 → https://eu-de.ml.cloud.ibm.com/ml/v1/text/chat?version=2024-10-10 | providers[0].base_url | /ml/gateway/v1
an older address of Azure | https://api.acme.example/v1 → https://gw.openai.azure.com/openai/deployments/chat | providers[0].base_url | wants ?api-version= in each call
an address of Azure without its path | https://api.acme.example/v1 → https://gw.openai.azure.com | providers[0].base_url | https://RESOURCE.openai.azure.com/openai/v1
a base URL with the path of messages | example/v1 → example/v1/messages | providers[0].base_url | appends
a base URL with the path of image edits | example/v1 → example/v1/images/edits | providers[0].base_url | must end before /images/edits
no interface | reasoning_style: effort → apis: [] | providers[0].apis | must name an interface
an interface twice | reasoning_style: effort → apis: [messages, messages] | providers[0].apis[1] | is there twice
an interface that there is not | reasoning_style: effort → apis: [message] | providers[0].apis[0] | did you mean messages?
a header for the key without its name | { bearer: { env: ACME_API_KEY } } → { header: { env: ACME_API_KEY } } | providers[0].auth.header.name | is required
a header for the key that the gateway sets | { bearer: { env: ACME_API_KEY } } → { header: { name: Content-Type, env: K } } | providers[0].auth.header.name | the gateway sets it itself
a header for the key without a place for it | { bearer: { env: ACME_API_KEY } } → { header: { name: x-api-key } } | providers[0].auth.header.env | is required
a constant header that carries the key | auth: { bearer: { env: ACME_API_KEY } } → auth: { header: { name: x-acme, env: K } }\n    headers: { x-acme: "1" } | providers[0].headers.x-acme | as auth says
a constant header with a control character | reasoning_style: effort → headers: { x-title: "a\tb\u0001" } | providers[0].headers.x-title | visible ASCII
a constant header that is a number | reasoning_style: effort → headers: { x-version: 1 } | providers[0].headers.x-version | in quotes
a constant header twice | reasoning_style: effort → headers: { x-title: a, X-Title: b } | providers[0].headers.X-Title | is there twice
a key of a client where calls are signed | { bearer: { env: ACME_API_KEY } } → { sigv4: { service: bedrock, region: eu-west-1 } } | providers[0].accepts_byok_header | must be false beside sigv4
credentials of calls that are signed | { bearer: { env: ACME_API_KEY } } → none\n    credentials: [{ env: A }] | providers[0].credentials | an auth with a secret
a credential twice | { bearer: { env: ACME_API_KEY } } → { bearer: { env: A } }\n    credentials: [{ env: A }, { env: B }, { env: A }] | providers[0].credentials[2] | is there twice
credentials without the one of auth | reasoning_style: effort → credentials: [{ env: A }, { env: B }] | providers[0].auth | not among credentials
no credential | reasoning_style: effort → credentials: [] | providers[0].credentials | must name a credential
a credential itself | reasoning_style: effort → credentials: [sk-key] | providers[0].credentials[0] | must not be the credential itself
alerts without a receiver | queue_ms: 2000 → alerts: { at: [80] } | service.alerts.url | must not be the credential itself: write
a receiver's address itself | queue_ms: 2000 → alerts: { url: "https://hooks.example/canary" } | service.alerts.url | must not be the credential itself: write
a share that there is not | queue_ms: 2000 → alerts: { url: { env: A }, at: [50, 101] } | service.alerts.at[1] | 1 to 100
a share that is no number | queue_ms: 2000 → alerts: { url: { env: A }, at: ["80%"] } | service.alerts.at[0] | must be a number
shares that do not rise | queue_ms: 2000 → alerts: { url: { env: A }, at: [80, 50] } | service.alerts.at[1] | above the share before it
no share | queue_ms: 2000 → alerts: { url: { env: A }, at: [] } | service.alerts.at | such as 80
a secret of alerts itself | queue_ms: 2000 → alerts: { url: { env: A }, secret: SECRET } | service.alerts.secret | must not be the credential itself
an unknown field of alerts | queue_ms: 2000 → alerts: { url: { env: A }, shares: [80] } | service.alerts.shares | is not known here; known are url, at, secret
a weight of nothing | streaming: true → weight: 0 | models[0].providers[0].weight | at least 1
a dropped output bound | reasoning_style: effort → drops: { members: [user, max_completion_tokens] } | providers[0].drops.members[1] | bounds the output
a dropped group with the output bound | reasoning_style: effort → drops: { members: [inferenceConfig] } | providers[0].drops.members[0] | bounds the output
a dropped store where it would be stored | reasoning_style: effort → apis: [responses]\n    drops: { members: [store] } | providers[0].drops.members[0] | nothing is to be stored
another member under the name of the output bound | reasoning_style: effort → renames: { foo: max_tokens } | providers[0].renames.foo | bounds the output, and foo does not
another member under the name of one that costs more | reasoning_style: effort → renames: { foo: service_tier } | providers[0].renames.foo | under its own name alone
two members under one name | reasoning_style: effort → renames: { foo: baz, bar: baz } | providers[0].renames.bar | of another member already
a member under the name of a renamed one | reasoning_style: effort → renames: { foo: bar, bar: baz } | providers[0].renames.foo | bar has a new name itself
a provider id in capitals | - id: acme\n → - id: Acme\n | providers[0].id + | lower-case
a region in capitals | [eu] → [EU] | providers[0].data_policy.data_residency[0] | lower case
an empty residency, which would satisfy every policy | [eu] → [] | providers[0].data_policy.data_residency | left out
a timeout that timers cannot hold | timeout_ms: 20000 → timeout_ms: 3000000000 | providers[0].first_chunk_timeout_ms | at most
another auth | { bearer: { env: ACME_API_KEY } } → basic | providers[0].auth | must be none
another choice | data_collection: deny → data_collection: never | providers[0].data_policy.data_collection | allow, deny
a workspace id with a blank | - id: team-a → - id: team a | W.id | 1 to 64
a credit without quotes | credit_usd: "25.00" → credit_usd: 25 | W.credit_usd | in quotes
models that are neither all nor a list | models: all → models: some | W.models | all or a list
a model that is not there | models: all → models: [acme/large-1, acme/large-2] | W.models[1] | there is no model
auto as a model of a workspace | models: all → models: [auto] | W.models[0] | is always available
a key with a mistyped member | rpm: 60, → rmp: 60, | W.keys[0].rmp | is not known here; did you mean rpm?
a member that begins like another | spend_limit_usd: "5.00" → spend_limit: "5.00" | W.keys[0].spend_limit | is not known here; did you mean spend_limit_usd?
a version without quotes | version: "1" → version: 1 | W.presets[0].versions[0].version | in quotes
a preset that names a preset | { temperature: 0 } } → { preset: other } } | W.presets[0].versions[0].config.preset | cannot be set
a connection to no provider | { provider: acme, key → { provider: other, key | W.byok.connections[0].provider | there is no provider
a function of no model | model: acme/large-1 → model: acme/none | R.model | there is no model
a fallback of no model, where no name is near | [acme/small-1] → [something-else] | R.fallback_models[0] | there is no model "something-else" in models; known are acme/large-1, acme/small-1, auto
a second fallback of no model | [acme/small-1] → [acme/small-1, acme/none] | R.fallback_models[1] | there is no model
an active revision that is a draft | state: activated → state: draft | W.functions[0].active | activated
a second model of that id | id: acme/small-1 → id: acme/large-1 | models[1].id + | "acme/large-1" is already taken by an earlier entry
an expiry that is no date | status: active → expires_at: soon | W.keys[0].expires_at | must be a date
a tag whose name has a capital | status: active → tags: { Team: a } | W.keys[0].tags.Team | must be 1 to 32 lower-case letters
a tag whose value has a comma | status: active → tags: { team: "a,b" } | W.keys[0].tags.team | visible ASCII characters without , and =
a tag without a value | status: active → tags: { team: "" } | W.keys[0].tags.team | 1 to 64
nine tags | status: active → tags: { t0: v, t1: v, t2: v, t3: v, t4: v, t5: v, t6: v, t7: v, t8: v } | W.keys[0].tags | at most 8
a model of a key that is not there | status: active → models: [acme/none] | W.keys[0].models[0] | there is no model "acme/none" in models
a reset that is none | status: active → spend_limit_reset: yearly | W.keys[0].spend_limit_reset | daily, weekly, monthly
a credential as auth | { bearer: { env: ACME_API_KEY } } → SECRET | providers[0].auth | write auth: { bearer: { env: NAME } }, the credential itself in the variable NAME of the gateway
a credential as bearer | { env: ACME_API_KEY } → SECRET | providers[0].auth.bearer | write { env: NAME }, the credential itself in the variable NAME of the gateway
a credential as the name of a variable | env: ACME_API_KEY → env: SECRET | providers[0].auth.bearer.env | write { env: NAME }, the credential itself in the variable NAME of the gateway
a credential as the name of a secret | env: ACME_API_KEY → secret: SECRET | providers[0].auth.bearer.secret | write { env: NAME }, the credential itself in the variable NAME of the gateway
a credential in a member of other programs | auth: { bearer: { env: ACME_API_KEY } } → api_key: SECRET | providers[0].api_key | write auth: { bearer: { env: NAME } }, the credential itself in the variable NAME of the gateway
the same in auth | { bearer: { env: ACME_API_KEY } } → { api_key: SECRET } | providers[0].auth.api_key + | write auth: { bearer: { env: NAME } }, the credential itself in the variable NAME of the gateway
a credential in a base URL | https://api → https://SECRET@api | providers[0].base_url | write auth: { bearer: { env: NAME } }, the credential itself in the variable NAME of the gateway
a credential in the query of a base URL | example/v1 → example/v1?key=SECRET | providers[0].base_url | write auth: { bearer: { env: NAME } }, the credential itself in the variable NAME of the gateway
a credential in a connection | { env: ACME_BYOK } → SECRET | W.byok.connections[0].key | write { env: NAME }, the credential itself in the variable NAME of the gateway
a credential with a blank behind it | env: ACME_BYOK → secret: "SECRET " | W.byok.connections[0].key.secret | write { env: NAME }
a credential as a key of a workspace | KEY → SECRET | W.keys[0].key | goes into byok.connections, key: { env: NAME }
a key of another length | KEY → KEYx | W.keys[0].key | key
a provider twice in a model | providers: [] → providers: [{ provider: acme, upstream_model: x, input_price_per_million: "1", output_price_per_million: "1", context_length: 1, max_output_tokens: 1 }, { provider: acme, upstream_model: x, input_price_per_million: "1", output_price_per_million: "1", context_length: 1, max_output_tokens: 1 }] | models[1].providers[1].provider | already taken
a key name twice in a workspace | - { name: ci, key → - { name: ci }\n      - { name: ci, key | W.keys[1].name | already taken
a key text of another workspace | workspaces: → workspaces:\n  - { id: other, keys: [ { name: ci, key: KEY } ] } | workspaces[1].keys[0].key | already taken
a second connection to a provider | budget_usd: "10.00" } → budget_usd: "10.00" }, { provider: acme, key: { env: ACME_OTHER }, policy: allowed } | W.byok.connections[1].provider | already taken
a second function of that id | - id: classify-ticket\n → - { id: classify-ticket, kind: prompt, revisions: [] }\n      - id: classify-ticket\n | W.functions[1].id | already taken
a second preset of that slug | presets:\n → presets:\n      - { slug: terse, versions: [ { version: "1", config: {} } ], designated: "1" }\n | W.presets[1].slug | already taken
a second version of that name | { version: "1", config: { temperature: 0 } } → { version: "1", config: {} }, { version: "1", config: {} } | W.presets[0].versions[1].version | already taken
a guardrail without a kind | workspaces: → guardrails: [{ id: g }]\nworkspaces: | guardrails[0].kind | must be http, bedrock, words, patterns or pii
a guardrail of another kind | workspaces: → guardrails: [{ id: g, kind: lakera }]\nworkspaces: | guardrails[0].kind | must be http, bedrock, words, patterns or pii
a guardrail twice | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check" }, { id: g, kind: http, url: "https://g.example/check" }]\nworkspaces: | guardrails[1].id | already taken
a guardrail without a URL | workspaces: → guardrails: [{ id: g, kind: http }]\nworkspaces: | guardrails[0].url | is required
a guardrail at no URL | workspaces: → guardrails: [{ id: g, kind: http, url: g.example }]\nworkspaces: | guardrails[0].url | must be a URL
a guardrail with a credential in its URL | workspaces: → guardrails: [{ id: g, kind: http, url: "https://me:SECRET@g.example" }]\nworkspaces: | guardrails[0].url | use auth
a guardrail on nothing | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check", on: [] }]\nworkspaces: | guardrails[0].on | must name input, output or both
a guardrail on something else | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check", on: [prompt] }]\nworkspaces: | guardrails[0].on[0] | must be one of input, output
a guardrail with a signed auth | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check", auth: { sigv4: { service: a, region: b1 } } }]\nworkspaces: | guardrails[0].auth | must be none
a guardrail that waits for ever | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check", timeout_ms: 60000 }]\nworkspaces: | guardrails[0].timeout_ms | at most 30000
a guardrail with no window | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check", window_characters: 0 }]\nworkspaces: | guardrails[0].window_characters | at least 1
a guardrail that fails otherwise | workspaces: → guardrails: [{ id: g, kind: http, url: "https://g.example/check", on_failure: warn }]\nworkspaces: | guardrails[0].on_failure | must be one of block, pass
a guardrail of Bedrock without a version | workspaces: → guardrails: [{ id: b, kind: bedrock, guardrail: abc123, region: eu-west-1 }]\nworkspaces: | guardrails[0].version | is required
a guardrail of Bedrock with a number as version | workspaces: → guardrails: [{ id: b, kind: bedrock, guardrail: abc123, version: 1, region: eu-west-1 }]\nworkspaces: | guardrails[0].version | in quotes
a guardrail of Bedrock in no region of AWS | workspaces: → guardrails: [{ id: b, kind: bedrock, guardrail: abc123, version: "1", region: europe }]\nworkspaces: | guardrails[0].region | region of AWS
a guardrail of Bedrock by its name | workspaces: → guardrails: [{ id: b, kind: bedrock, guardrail: My Guardrail, version: "1", region: eu-west-1 }]\nworkspaces: | guardrails[0].guardrail | the id or the ARN
a price of units that there are not | workspaces: → guardrails: [{ id: b, kind: bedrock, guardrail: abc123, version: "1", region: eu-west-1, unit_prices: { tokens: "1" } }]\nworkspaces: | guardrails[0].unit_prices.tokens | contentPolicyUnits
a price of units without quotes | workspaces: → guardrails: [{ id: b, kind: bedrock, guardrail: abc123, version: "1", region: eu-west-1, unit_prices: { contentPolicyUnits: 0.15 } }]\nworkspaces: | guardrails[0].unit_prices.contentPolicyUnits | in quotes
a guardrail without words | workspaces: → guardrails: [{ id: w, kind: words, words: [] }]\nworkspaces: | guardrails[0].words | must name a word
a guardrail with a word of white space | workspaces: → guardrails: [{ id: w, kind: words, words: [a, " "] }]\nworkspaces: | guardrails[0].words[1] | that can be seen
a guardrail with another action | workspaces: → guardrails: [{ id: w, kind: words, words: [a], action: warn }]\nworkspaces: | guardrails[0].action | must be one of block, mask
a guardrail with a pattern that does not compile | workspaces: → guardrails: [{ id: p, kind: patterns, patterns: [{ name: a, regex: "a" }, { name: b, regex: "b(" }] }]\nworkspaces: | guardrails[0].patterns[1].regex | must be a pattern of RE2: missing closing )
a guardrail with a pattern that looks ahead | workspaces: → guardrails: [{ id: p, kind: patterns, patterns: [{ name: a, regex: "(?=a)b" }] }]\nworkspaces: | guardrails[0].patterns[0].regex | unsupported Perl syntax
a guardrail with a pattern twice | workspaces: → guardrails: [{ id: p, kind: patterns, patterns: [{ name: a, regex: a }, { name: a, regex: b }] }]\nworkspaces: | guardrails[0].patterns | must name each once
a guardrail with a pattern of another name | workspaces: → guardrails: [{ id: p, kind: patterns, patterns: [{ name: "a]", regex: a }] }]\nworkspaces: | guardrails[0].patterns[0].name | letters, digits
a guardrail of personal data of no type | workspaces: → guardrails: [{ id: p, kind: pii, types: [] }]\nworkspaces: | guardrails[0].types | must name some of email
a guardrail of personal data of another type | workspaces: → guardrails: [{ id: p, kind: pii, types: [passport] }]\nworkspaces: | guardrails[0].types[0] | must be one of email, phone, card, iban, ip, credential
a second workspace of that id | workspaces: → workspaces:\n  - id: team-a | workspaces[1].id | "team-a" is already taken by an earlier entry
`;

const places: Readonly<Record<string, string>> = {
  E: 'models[0].providers[0]',
  W: 'workspaces[0]',
  R: 'workspaces[0].functions[0].revisions[0]',
};

const toText = (line: string): string =>
  line
    .replaceAll(String.raw`\n`, '\n')
    .replace(/\bKEY(?=x?(?:$| ))/, exampleKey)
    .replace('SECRET', secret);

export const wrongFiles = table
  .trim()
  .split('\n')
  .map((row) => {
    const [title = '', change = '', place = '', message = ''] = row.split(/ +\| +/);
    const [written = '', instead = ''] = change.split(/ → | →$/).map(toText);
    const [path = '', more] = place.replace(/^[EWR](?=\.)/, (letter) => places[letter] ?? letter).split(' ');
    return { title, written, instead, path, message, hasMore: more === '+' };
  });
