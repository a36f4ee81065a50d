// How long a call to AWS may take from the command line: ten times what a function waits, as a new connection from another
// continent alone takes what a whole call may take inside the region.
import { storeCallTimeoutMs } from '../../../shared/foundation/constants/index.ts';

export const commandCallTimeoutMs = 10 * storeCallTimeoutMs;
