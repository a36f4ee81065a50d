// Shows the sign-in. People sign in with an operator key, or at the identity provider of the stage if it has such a
// provider.
import { useState } from 'preact/hooks';
import { goToIdentityProvider } from '../connection/identity.ts';
import { refusal, signInWithKey } from '../connection/operator-session.ts';
import { type PageSignIn, useSettings } from '../connection/settings.ts';
import { Button } from '../parts/button.tsx';
import { Form } from '../parts/form.tsx';

export const SignIn = () => {
  const signIn = useSettings()?.sign_in;
  return (
    <main class="sign-in">
      <h1>gw console</h1>
      {refusal && (
        <p class="failure" role="alert">
          {refusal}
        </p>
      )}
      {signIn && <PersonSignIn settings={signIn} />}
      <KeySignIn isOnly={!signIn} />
    </main>
  );
};

const PersonSignIn = ({ settings }: { readonly settings: PageSignIn }) =>
  settings.authorization_endpoint === null ? (
    <p class="note" role="status">
      {settings.issuer} does not answer: sign-in does not work now. An operator key works.
    </p>
  ) : (
    <p class="lines">
      <Button
        text={refusal === undefined ? 'Sign in' : 'Sign in again'}
        kind="main"
        onClick={() => goToIdentityProvider(settings)}
      />
      <span class="muted">at {new URL(settings.issuer).host}</span>
    </p>
  );

const KeySignIn = ({ isOnly }: { readonly isOnly: boolean }) => {
  const [key, setKey] = useState('');
  return (
    <>
      <Form submit={() => key.trim() !== '' && signInWithKey(key.trim())}>
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
        <button type="submit" class={isOnly ? 'main' : ''}>
          Open the console
        </button>
      </Form>
      <p id="key-help" class="muted">
        An API key does not open the console. Make an operator key with <code>gw operators create --name NAME</code>; a
        local demo prints one as it starts. It is kept in this tab only.
      </p>
    </>
  );
};
