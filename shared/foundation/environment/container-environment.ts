// Reads the variables that only containers have.
import { environmentNames } from '../constants/index.ts';
import type { Variables } from './aws-environment.ts';

interface ContainerEnvironment {
  /** True if the container serves the console and the management interface. */
  readonly hasConsole: boolean;
  /** Port; undefined means the default. */
  readonly port: number | undefined;
  /** Port of the metrics; undefined if they are not served. */
  readonly metricsPort: number | undefined;
}

/** Throws with the name of the variable that is malformed. */
export function readContainerEnvironment(variables: Variables = process.env): ContainerEnvironment {
  const console = variables[environmentNames.console] ?? 'off';
  if (console !== 'on' && console !== 'off') throw new Error(`${environmentNames.console} must be on or off`);
  const portOf = (name: string): number | undefined => {
    const text = variables[name];
    const port = text === undefined ? undefined : Number(text);
    if (port === undefined || (Number.isInteger(port) && port >= 0 && port < 65_536)) return port;
    throw new Error(`${name} must be a port, or not be set`);
  };
  return {
    hasConsole: console === 'on',
    port: portOf(environmentNames.port),
    metricsPort: portOf(environmentNames.metricsPort),
  };
}
