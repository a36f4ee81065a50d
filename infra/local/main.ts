// `npm start`: the whole gateway on this machine, offline.
import { enableCompileCache } from 'node:module';

// Modules that are imported from here on are compiled once, and cached with the temporary files.
enableCompileCache();
const { runStart } = await import('./run-start.ts');
await runStart(process.argv.slice(2));
