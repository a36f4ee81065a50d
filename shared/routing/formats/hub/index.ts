export { callThroughHub } from './call-through-hub.ts';
export { runPackageTask } from './package-tasks.ts';
