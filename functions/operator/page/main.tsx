// Starts the console, a page that reads and changes a gateway through its management interface. Values from the gateway
// are put into the page as text only, and nothing is loaded from other hosts.
import './connection/language.ts';
import { render } from 'preact';
import { completeSignIn } from './connection/identity.ts';
import { takeKeyFromFragment } from './connection/operator-session.ts';
import { Console } from './console.tsx';

takeKeyFromFragment();
void completeSignIn().then(() => render(<Console />, document.body));
