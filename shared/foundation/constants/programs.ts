// Names the programs as people call them. A clone runs them through npm, and the package has its own program.

/** True in a bundle, whose modules are not TypeScript files. */
export const isBundled = import.meta.filename?.endsWith('.ts') !== true;

/** The command of `gw` that runs a gateway until a signal ends it. */
export const startCommand = 'start';

/** Prefixes of the command lines that texts tell people to run. */
export const programs = isBundled
  ? ({ commandLine: 'gw', start: 'gw start' } as const)
  : ({ commandLine: 'npm run gw --', start: 'npm start --' } as const);
