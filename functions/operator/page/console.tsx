import type { ComponentChild } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Address, useAddress, type ViewName } from './connection/address.ts';
import { signOut, useIsSignedIn } from './connection/operator-session.ts';
import { Link } from './parts/link.tsx';
import { CallView } from './views/call.tsx';
import { CallsView } from './views/calls.tsx';
import { FunctionsView } from './views/functions.tsx';
import { KeysView } from './views/keys.tsx';
import { ModelsView } from './views/models.tsx';
import { OverviewView } from './views/overview.tsx';
import { PlaygroundView } from './views/playground.tsx';
import { SignIn } from './views/sign-in.tsx';

interface View {
  readonly title: string;
  /** A view that is reached from another one is not in the navigation. */
  readonly isIn?: ViewName;
  readonly show: (address: Address) => ComponentChild;
}

const views: Readonly<Record<ViewName, View>> = {
  overview: { title: 'Overview', show: (address) => <OverviewView address={address} /> },
  calls: { title: 'Calls', show: (address) => <CallsView address={address} /> },
  call: { title: 'Call', isIn: 'calls', show: (address) => <CallView address={address} /> },
  keys: { title: 'Keys', show: (address) => <KeysView address={address} /> },
  models: { title: 'Models and providers', show: () => <ModelsView /> },
  functions: { title: 'Functions', show: () => <FunctionsView /> },
  playground: { title: 'Playground', show: (address) => <PlaygroundView address={address} /> },
};

export const Console = () => {
  const isSignedIn = useIsSignedIn();
  const address = useAddress();
  if (!isSignedIn) return <SignIn />;
  const { title, isIn, show } = views[address.view];
  const entries = (Object.keys(views) as ViewName[]).filter((name) => views[name].isIn === undefined);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <strong>gw</strong>
        <nav aria-label="Views">
          {entries.map((name) => (
            <Link key={name} view={name} isCurrent={name === (isIn ?? address.view)}>
              {views[name].title}
            </Link>
          ))}
        </nav>
        <button type="button" class="plain" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      <main id="content">
        <Heading key={address.view} title={title} />
        {show(address)}
      </main>
    </>
  );
};

/** A screen reader is led to the new view, as it would be with a new page. */
const Heading = ({ title }: { readonly title: string }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · gw console`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
};
