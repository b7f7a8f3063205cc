/** The types that every command shares, and the access to the configuration and the database. */

import type { OpenCore } from '../../core/open-core.ts'
import { type Configuration, findConfiguration } from './configuration.ts'
import type { Terminal } from './terminal.ts'

export type CommandContext = {
  terminal: Terminal
  /** The file given with `--config`. */
  configPath: string | undefined
  /** Whether `--json` is given. */
  isJson: boolean
  configuration: Configuration
  /**
   * Adds the given `--config` to the commands in a text of the program. Texts of people must not
   * pass through here.
   */
  typed(text: string): string
  /** The command may create a missing `data_dir`. */
  makesDataDir?: boolean
}

export type Input = {
  args: readonly string[]
  /** The value of an option; undefined if the option is absent. */
  text(option: string): string | undefined
  /** The value of a required option, which the engine has already checked for. */
  required(option: string): string
  /**
   * The value of an option that takes one of these words, in any letter case; undefined if the
   * option is absent.
   * @throws UsageError
   */
  choice<const Choice extends string>(
    option: string,
    choices: readonly Choice[],
  ): Choice | undefined
  has(flag: string): boolean
}

/**
 * The output of a command: `json` with --json, else `text`; `raw` in both cases; null if the
 * command has written its own output. `isFailed`: the exit status is 1 although there is output.
 */
export type Result = { json: unknown; text: string; isFailed?: boolean } | { raw: Buffer } | null

type Command = (context: CommandContext, input: Input) => Promise<Result>

export type CommandSpec = {
  name: string
  summary: string
  args?: string
  /**
   * Flags and description of each option in the syntax of commander; a leading `!` marks a required
   * option.
   */
  options?: [flags: string, description: string][]
  load(): Promise<Command>
}

/** The error of a wrong command line: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'WRONG_USAGE'
  /** The usage of the command; undefined if no command is known. */
  usage: string | undefined
}

/** Returns the context of the same command with another configuration file. */
export function withConfigFile(context: CommandContext, configPath: string): CommandContext {
  const { terminal } = context
  return { ...context, configPath, configuration: findConfiguration({ terminal, configPath }) }
}

/**
 * Runs `act` on the database, beside a running server if there is one. If root runs the command,
 * `act` runs as the owner of the server's files. A database that was brought back from a copy is
 * fenced first, and the command then ends.
 * @throws AppError CONFLICT; RESOURCE_NOT_FOUND if there is neither a configuration nor a database
 */
export async function withCore<T>(
  context: CommandContext,
  act: (core: OpenCore) => Promise<T>,
): Promise<T> {
  const { refuseOlderDatabase } = await import('../../features/operation/recovery/notice-older.ts')
  return withCoreAsIs(context, async (core) => {
    await refuseOlderDatabase(core)
    return act(core)
  })
}

/**
 * Like `withCore`, but uses a database that was brought back from a copy as it is. For code that
 * changes nothing, such as the warnings of a starting server, and for the command that sets the
 * fence.
 */
export async function withCoreAsIs<T>(
  context: CommandContext,
  act: (core: OpenCore) => Promise<T>,
): Promise<T> {
  const loaded = await context.configuration.load()
  const { config } = loaded
  const [{ openCore }, { createLog }, { asFileOwner }, { requireAccess }, database] =
    await Promise.all([
      import('../../core/open-core.ts'),
      import('../../base/log.ts'),
      import('./file-owner.ts'),
      import('./access.ts'),
      import('./require-database.ts'),
    ])
  const run = async () => {
    await database.waitForServedSchema(config)
    const core = await openCore(config, { log: createLog('fatal') })
    try {
      return await act(core)
    } finally {
      await core.close()
    }
  }
  requireAccess(config)
  database.requireDatabase(loaded, context.terminal, context)
  const isFinal = context.terminal.isWholeProcess
  return asFileOwner(config, run, { isFinal, makesDataDir: true })
}
