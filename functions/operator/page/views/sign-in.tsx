import { useState } from 'preact/hooks';
import { refusal, signIn } from '../connection/operator-session.ts';

export const SignIn = () => {
  const [key, setKey] = useState('');
  return (
    <main class="sign-in">
      <h1>gw console</h1>
      {refusal && (
        <p class="failure" role="alert">
          {refusal}
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== '') signIn(key.trim());
        }}
      >
        <label>
          Operator key
          <input
            type="password"
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
            placeholder="sk-gw-…"
            required
            aria-describedby="key-help"
          />
        </label>
        <button type="submit">Open the console</button>
      </form>
      <p id="key-help" class="muted">
        An API key does not open the console. Make an operator key with{' '}
        <code>npm run gw -- operators create --name NAME</code>; a local demo prints one as it starts. It is kept in
        this tab only.
      </p>
    </main>
  );
};
