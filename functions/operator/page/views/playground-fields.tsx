// The fields of the playground: interface and model, prompt, and options.

import { type InterfaceName, interfaceNames, interfaces } from '../../../../shared/protocol/interface-pages/index.ts';
import type { PlaygroundToolCall } from '../../../../shared/protocol/playground/index.ts';
import { isFunction } from '../../../../shared/protocol/playground/index.ts';
import { useManaged } from '../connection/management.ts';
import { useRights } from '../connection/session-rights.ts';
import { CheckField, Choice, Field } from '../parts/field.tsx';
import { Link } from '../parts/link.tsx';
import { resultField } from './playground-draft.ts';

interface PlaygroundFieldsProperties {
  readonly interfaceName: InterfaceName;
  readonly setInterfaceName: (name: InterfaceName) => void;
  readonly model: string;
  readonly setModel: (model: string) => void;
  readonly lastKey: string;
  readonly baseUrl: string;
  /** Calls that wait for their tools' results. */
  readonly calls: readonly PlaygroundToolCall[];
}

const toolsExample = '[{"name": "weather", "description": "…", "parameters": {"type": "object", "properties": {}}}]';

export const PlaygroundFields = (properties: PlaygroundFieldsProperties) => {
  const { interfaceName, setInterfaceName, model, setModel, lastKey, baseUrl, calls } = properties;
  const isOfFunction = isFunction(model) && interfaceName === 'chat-completions';
  const { hasTurns, file } = interfaces[interfaceName];
  const isText = hasTurns && !isOfFunction;
  return (
    <>
      <Field title="API key">
        <input
          name="api-key"
          type="password"
          required
          defaultValue={lastKey}
          autocomplete="off"
          placeholder="sk-gw-…"
          aria-describedby="api-key-help"
        />
      </Field>
      <Choice
        title="Interface"
        options={interfaceNames.map((name) => [name, interfaces[name].title])}
        value={interfaceName}
        choose={(name) => setInterfaceName(name as InterfaceName)}
      />
      <ModelField model={model} setModel={setModel} />
      <Field title="Base URL">
        <input name="base-url" type="url" required readOnly value={baseUrl} />
      </Field>
      {isText && <TextDetails />}
      <details class="wide">
        <summary>More members of the body</summary>
        <Field title="More members (JSON)">
          <textarea name="more" class="code" rows={3} spellcheck={false} placeholder={'{"top_p": 0.5}'} />
        </Field>
      </details>
      {calls.map(({ id, name, arguments: written }) => (
        <Field key={id} title={`What ${name}(${written}) answers`} isWide>
          <textarea name={resultField(id)} rows={2} required />
        </Field>
      ))}
      {file && (
        <Field title="File" isWide>
          <input name="file" type="file" required accept={file.types} />
        </Field>
      )}
      {calls.length === 0 && (
        <Field key={`message-${file === undefined}`} title={file ? 'Prompt' : 'Message'} isWide>
          <textarea name="prompt" rows={4} required={!file} defaultValue={file ? '' : 'Hello'} />
        </Field>
      )}
      {isText && <CheckField title="Stream the answer" name="stream" defaultChecked />}
      <p id="api-key-help" class="muted wide">
        A call costs what it costs any client with this key. The key is forgotten with the page; make one under{' '}
        <Link view="keys" text="Keys" />.
      </p>
    </>
  );
};

const ModelField = ({ model, setModel }: Pick<PlaygroundFieldsProperties, 'model' | 'setModel'>) => {
  const mayList = useRights().holds('viewer');
  const models = useManaged(mayList ? 'GET /models' : undefined, { query: { limit: '200' } }).answer?.data ?? [];
  const functions = useManaged(mayList ? 'GET /functions' : undefined, { query: { limit: '200' } }).answer?.data ?? [];
  return (
    <>
      <Field title="Model">
        <input
          name="model"
          list="models"
          required
          value={model}
          onInput={({ currentTarget }) => setModel(currentTarget.value)}
          spellcheck={false}
          autocapitalize="none"
        />
      </Field>
      <datalist id="models">
        <option value="auto" />
        {models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
        {functions.map(({ workspace, id }) => (
          <option key={`${workspace}/${id}`} value={`gw/function/${id}`} />
        ))}
      </datalist>
    </>
  );
};

const TextDetails = () => (
  <details class="wide">
    <summary>System text, parameters, tools, images</summary>
    <div class="playground">
      <Field title="System text" isWide>
        <textarea name="system" rows={2} />
      </Field>
      <Field title="Temperature">
        <input name="temperature" type="number" min={0} max={2} step="any" placeholder="default" />
      </Field>
      <Field title="Output tokens at most">
        <input name="max-tokens" type="number" min={1} placeholder="default" />
      </Field>
      <Field title="Images">
        <input name="images" type="file" multiple accept="image/*" />
      </Field>
      <Field title="Tools (JSON)" isWide>
        <textarea name="tools" class="code" rows={3} spellcheck={false} placeholder={toolsExample} />
      </Field>
    </div>
  </details>
);
