// Lists every command in the order of help. A command loads only its own module, because all modules take longer.
import { startCommand } from '../../../shared/foundation/constants/index.ts';
import type { CommandLine } from '../args/command-line.ts';

type AddCommand = (program: CommandLine) => void;

interface CommandModule {
  /** First words of its command lines. */
  readonly names: readonly string[];
  readonly load: () => Promise<AddCommand>;
}

const modules: readonly CommandModule[] = [
  { names: [startCommand], load: async () => (await import('./start.ts')).addStart },
  { names: ['apply'], load: async () => (await import('./apply.ts')).addApply },
  { names: ['export'], load: async () => (await import('./export.ts')).addExport },
  { names: ['import'], load: async () => (await import('./import.ts')).addImport },
  { names: ['status'], load: async () => (await import('./status.ts')).addStatus },
  { names: ['calls'], load: async () => (await import('./calls.ts')).addCalls },
  { names: ['usage'], load: async () => (await import('./usage.ts')).addUsage },
  { names: ['providers'], load: async () => (await import('./providers.ts')).addProviders },
  { names: ['models'], load: async () => (await import('./models.ts')).addModels },
  { names: ['workspaces'], load: async () => (await import('./workspaces.ts')).addWorkspaces },
  { names: ['keys'], load: async () => (await import('./keys.ts')).addKeys },
  { names: ['operators'], load: async () => (await import('./operators.ts')).addOperators },
  { names: ['credits'], load: async () => (await import('./credits.ts')).addCredits },
  { names: ['functions'], load: async () => (await import('./functions.ts')).addFunctions },
  { names: ['credentials'], load: async () => (await import('./credentials.ts')).addCredentials },
  { names: ['alerts'], load: async () => (await import('./alerts.ts')).addAlerts },
  { names: ['pause', 'resume'], load: async () => (await import('./pause.ts')).addPause },
  { names: ['policy'], load: async () => (await import('./policy.ts')).addPolicy },
];

/** Adds the command that `word`, the first typed word, names. If it names none, as for help, adds all commands. */
export async function addCommands(program: CommandLine, word: string | undefined): Promise<void> {
  const namedModules = modules.filter(({ names }) => word !== undefined && names.includes(word));
  const additions = await Promise.all((namedModules.length > 0 ? namedModules : modules).map(({ load }) => load()));
  for (const add of additions) add(program);
}
