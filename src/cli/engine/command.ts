/** The types that every command shares, and access to the configuration and the database. */

import type { OpenCore } from '../../core/open-core.ts'
import { type Configuration, findConfiguration } from './configuration.ts'
import type { Terminal } from './terminal.ts'

export type CommandContext = {
  terminal: Terminal
  /** `--config` */
  configPath: string | undefined
  /** `--json` */
  isJson: boolean
  configuration: Configuration
  /**
   * Adds the command line's `--config` to the commands in a text of the program. Texts of people must not
   * pass through here.
   */
  typed(text: string): string
  /** The command may create a missing `data_dir`. */
  makesDataDir?: boolean
}

export type Input = {
  args: readonly string[]
  /** The value of an option; undefined when it is absent. */
  text(option: string): string | undefined
  /** The value of a required option; the engine has checked that it is present. */
  required(option: string): string
  /**
   * The value of an option that takes one of these words, in any letter case; undefined when it is absent.
   * @throws UsageError
   */
  choice<const Choice extends string>(
    option: string,
    choices: readonly Choice[],
  ): Choice | undefined
  has(flag: string): boolean
}

/**
 * `json` with --json, else `text`; `raw` in both cases; null: the command has written its own output.
 * `isFailed`: the exit status is 1 although there is a result to print.
 */
export type Result = { json: unknown; text: string; isFailed?: boolean } | { raw: Buffer } | null

type Command = (context: CommandContext, input: Input) => Promise<Result>

export type CommandSpec = {
  name: string
  summary: string
  args?: string
  /** Flags and description in the syntax of commander; a leading `!` marks a required option. */
  options?: [flags: string, description: string][]
  load(): Promise<Command>
}

/** The command line is wrong: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'WRONG_USAGE'
  /** The usage of the command, if the command is known. */
  usage: string | undefined
}

/** The same command with another file as its configuration. */
export function withConfigFile(context: CommandContext, configPath: string): CommandContext {
  const { terminal } = context
  return { ...context, configPath, configuration: findConfiguration({ terminal, configPath }) }
}

/**
 * Runs `act` on the database, beside a running server if there is one. A command that root starts runs
 * as the owner of the server's files. A database that was brought back from a copy is fenced first, and
 * the command ends. @throws AppError CONFLICT, and RESOURCE_NOT_FOUND where there is neither a configuration nor a
 * database
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
 * As `withCore`, but a database that was brought back from a copy is used as it is. For code that changes
 * nothing, such as the warnings of a server that is about to start, and for the command that sets the fence.
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
