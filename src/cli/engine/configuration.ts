/**
 * The configuration of a command. The file is looked for once, at the first call of `load`: a
 * command that root runs later acts as another user, who may be unable to read the present folder.
 */
import type { LoadedConfig, LoadOptions } from '../../config/load.ts'
import { listOtherPlaces } from './other-places.ts'
import type { Terminal } from './terminal.ts'

export type Configuration = {
  /**
   * Loads the configuration; every call returns the first one's result. Certificates are checked only if the
   * first call asks for it, because most commands need none. The first call also notes what the command
   * leaves aside (`other-places.ts`); a command that lists these notes among its warnings sets `isQuiet`.
   * @throws ConfigError
   */
  load(options?: FirstLoad): Promise<LoadedConfig>
  /** Reads the same file again, as the present user, with its certificates. @throws ConfigError */
  check(): Promise<LoadedConfig>
}

type FirstLoad = Pick<LoadOptions, 'checksCertificates'> & { isQuiet?: boolean }

type Search = {
  terminal: Pick<Terminal, 'env' | 'cwd' | 'systemFile'>
  configPath: string | undefined
  note?: (text: string) => void
}

export function findConfiguration({
  terminal: { env, cwd, systemFile },
  configPath,
  note,
}: Search): Configuration {
  const read = async (options: Omit<LoadOptions, 'env' | 'cwd'>) => {
    const { loadSettings } = await import('../../config/load.ts')
    return loadSettings({ env, cwd, systemFile, ...options })
  }
  let loaded: Promise<LoadedConfig> | undefined
  const loadFirst = async ({ isQuiet = false, ...options }: FirstLoad) => {
    const found = await read({ configPath, checksCertificates: false, ...options })
    if (configPath === undefined && !isQuiet) {
      for (const text of listOtherPlaces(found, { cwd, ...(systemFile && { systemFile }) })) {
        note?.(text)
      }
    }
    return found
  }
  const load: Configuration['load'] = (options = {}) => {
    loaded ??= loadFirst(options)
    return loaded
  }
  return {
    load,
    check: async () => read({ configPath: (await load()).config.file, checksCertificates: true }),
  }
}
