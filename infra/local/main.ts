// Starts the whole gateway on this machine, offline (`npm start`).
import { enableCompileCache } from 'node:module';

// Modules that are imported after this call are compiled once, and cached with the temporary files.
enableCompileCache();
const { runStart } = await import('./run-start.ts');
await runStart(process.argv.slice(2));
