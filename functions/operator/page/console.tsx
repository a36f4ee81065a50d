import type { ComponentChild } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useAddress, type ViewAddress, type ViewName } from './connection/address.ts';
import { useManagementRequest } from './connection/management.ts';
import { signOut, useCredential } from './connection/operator-session.ts';
import { RightsContext, rightsOf, type SessionRights } from './connection/session-rights.ts';
import { Button } from './parts/button.tsx';
import { Link } from './parts/link.tsx';
import { Failure, Reading } from './parts/states.tsx';
import { CallView } from './views/call.tsx';
import { CallsView } from './views/calls.tsx';
import { ConfigurationView } from './views/configuration.tsx';
import { FunctionView } from './views/function.tsx';
import { FunctionsView } from './views/functions.tsx';
import { KeysView } from './views/keys.tsx';
import { ModelsView } from './views/models.tsx';
import { OperatorsView } from './views/operators.tsx';
import { OverviewView } from './views/overview.tsx';
import { PlaygroundView } from './views/playground.tsx';
import { SignIn } from './views/sign-in.tsx';
import { WorkspacesView } from './views/workspaces.tsx';

interface View {
  readonly title: string;
  /** The view that is marked in the navigation, for a view that is reached from another view. */
  readonly isIn?: ViewName;
  readonly isFor: (rights: SessionRights) => boolean;
  readonly show: (address: ViewAddress) => ComponentChild;
}

const allRoles = () => true;
const viewers = ({ holds }: SessionRights) => holds('viewer');
const ownersOfAll = ({ holdsInAll }: SessionRights) => holdsInAll('owner');

const views: Readonly<Record<ViewName, View>> = {
  overview: { title: 'Overview', isFor: allRoles, show: (address) => <OverviewView address={address} /> },
  calls: { title: 'Calls', isFor: allRoles, show: (address) => <CallsView address={address} /> },
  call: { title: 'Call', isIn: 'calls', isFor: allRoles, show: (address) => <CallView address={address} /> },
  workspaces: { title: 'Workspaces', isFor: viewers, show: () => <WorkspacesView /> },
  keys: { title: 'Keys', isFor: allRoles, show: (address) => <KeysView address={address} /> },
  operators: { title: 'Operators', isFor: ownersOfAll, show: (address) => <OperatorsView address={address} /> },
  models: { title: 'Models and providers', isFor: viewers, show: (address) => <ModelsView address={address} /> },
  functions: { title: 'Functions', isFor: viewers, show: () => <FunctionsView /> },
  function: {
    title: 'Function',
    isIn: 'functions',
    isFor: viewers,
    show: (address) => <FunctionView address={address} />,
  },
  configuration: { title: 'Configuration', isFor: ownersOfAll, show: () => <ConfigurationView /> },
  playground: { title: 'Playground', isFor: allRoles, show: (address) => <PlaygroundView address={address} /> },
};

export const Console = () => {
  const credential = useCredential();
  return credential === null ? <SignIn /> : <SignedIn key={credential} />;
};

const SignedIn = () => {
  const { answer, failure, reload } = useManagementRequest('GET /session');
  const rights = useMemo(() => answer && rightsOf(answer.data), [answer]);
  if (rights !== undefined) return <Views rights={rights} />;
  return (
    <main class="sign-in" aria-busy={failure === undefined}>
      <h1>gw console</h1>
      {failure === undefined ? <Reading /> : <Failure failure={failure} retry={reload} />}
      <Button text="Sign out" onClick={() => signOut()} />
    </main>
  );
};

const Views = ({ rights }: { readonly rights: SessionRights }) => {
  const address = useAddress();
  const { title, isIn, isFor, show } = views[address.view];
  const entries = (Object.keys(views) as ViewName[]).filter(
    (name) => views[name].isIn === undefined && views[name].isFor(rights),
  );
  return (
    <RightsContext.Provider value={rights}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <div class="grid">
          <strong>gw</strong>
          <nav aria-label="Views">
            {entries.map((name) => (
              <Link key={name} view={name} isCurrent={name === (isIn ?? address.view)} text={views[name].title} />
            ))}
          </nav>
          <span class="who">
            <span class="muted">{rights.name}</span>
            <Button text="Sign out" kind="plain" onClick={() => signOut()} />
          </span>
        </div>
      </header>
      <main id="content">
        <Heading key={address.view} title={title} />
        {isFor(rights) ? (
          show(address)
        ) : (
          <p class="empty">Your role does not open this view. An owner can change it.</p>
        )}
      </main>
    </RightsContext.Provider>
  );
};

/**
 * Shows the heading of a view. The heading gets the focus, so that a screen reader reads the new view like a new page.
 */
const Heading = ({ title }: { readonly title: string }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${title} · gw console`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
};
