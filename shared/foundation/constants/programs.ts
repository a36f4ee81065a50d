// The programs as people call them: those of a clone run through npm, the package has one of its own.

/** Bundles have no file in TypeScript. */
export const isBundled = import.meta.filename?.endsWith('.ts') !== true;

/** The command of `gw` that runs a gateway until a signal ends it. */
export const startCommand = 'start';

/** Begins the lines that texts tell people to run. */
export const programs = isBundled
  ? ({ commandLine: 'gw', start: 'gw start' } as const)
  : ({ commandLine: 'npm run gw --', start: 'npm start --' } as const);
