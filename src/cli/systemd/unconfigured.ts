/**
 * The failed start of a service that has no configuration. systemd starts it in `/`, where the folder of the
 * data cannot be made by default. A start by hand is a sandbox of the present folder, and keeps its own error.
 */
import { missingFile, SYSTEM_FILE } from '../../config/layers/file.ts'
import type { Loaded } from '../../config/load.ts'
import { ConfigError } from '../../config/problems.ts'

/** Variables that systemd sets for its services. */
const MARKS = ['INVOCATION_ID', 'NOTIFY_SOCKET']

/** Returns what to throw: the error itself, or one that says which command writes the configuration. */
export function explainUnconfigured(
  error: unknown,
  { env, loaded }: { env: NodeJS.ProcessEnv; loaded: Pick<Loaded, 'config' | 'origins'> },
): unknown {
  const isService = MARKS.some((name) => (env[name] ?? '') !== '')
  const isConfigured = loaded.config.file !== null || loaded.origins.size > 0
  if (!isService || isConfigured || !(error instanceof ConfigError)) return error
  const isFolderMissing = error.problems.some(({ key }) => key === 'data_dir')
  return isFolderMissing ? missingFile(SYSTEM_FILE, error) : error
}
