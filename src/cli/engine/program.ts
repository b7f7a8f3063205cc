/**
 * The engine of the command line: builds the commands from their table, reports wrong usage and
 * loads the code of the command that runs.
 */
import { Command as CommanderCommand, CommanderError } from 'commander'
import { quoteWord } from '../../config/shell-word.ts'
import {
  type CommandContext,
  type CommandSpec,
  type Input,
  type Result,
  UsageError,
} from './command.ts'
import { typedLike } from './command-line.ts'
import { findConfiguration } from './configuration.ts'
import { suggestCommands, suggestOption } from './suggest.ts'
import type { Terminal } from './terminal.ts'
import { escapeControls } from './text.ts'

/**
 * The commands, and the description of each group (a group is all words of a name but the last).
 */
type CommandTable = {
  groups: Readonly<Record<string, string>>
  commands: readonly CommandSpec[]
}

/**
 * Runs the command that `argv` names. Returns null if a help text was printed.
 * @throws UsageError for a wrong command line; every error of the command
 */
export async function runProgram(
  { groups, commands }: CommandTable,
  terminal: Terminal,
  argv: readonly string[],
): Promise<Result> {
  const typed = typedLike(
    argv,
    commands.map(({ name }) => name),
  )
  let result: Result = null
  let help = ''
  const program = new CommanderCommand('pillarbox')
    .description('A self-hosted email platform')
    .option('--config <path>', 'configuration file')
    .option('--json', 'print JSON')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => {
        help += text
      },
    })
    .configureHelp({ showGlobalOptions: true })
  for (const spec of commands) {
    const words = spec.name.split(' ')
    const parent = findGroup(program, groups, words.slice(0, -1))
    const command = parent.command(words.at(-1) ?? '')
    describeCommand(command, spec).action(async () => {
      const missing = findMissing(spec, command)
      if (missing.length > 0) throw wrongUsage(command, describeMissing(missing))
      const run = await spec.load()
      const act = () => run({ ...toContext(terminal, program), typed }, toInput(command))
      result = await withUsage(command, act)
    })
  }
  try {
    // The version is a command here, but many people type `--version`.
    const words = argv[0] === '--version' ? ['version', ...argv.slice(1)] : argv
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.unknownCommand') throw unknownCommand(argv, commands)
    if (error.exitCode !== 0) throw new UsageError(describe(error, help))
  }
  return result
}

/**
 * Returns the group that these words name, and adds the group if it is missing; for no words, the
 * program itself.
 */
function findGroup(
  program: CommanderCommand,
  groups: CommandTable['groups'],
  words: readonly string[],
): CommanderCommand {
  return words.reduce((parent, word, index) => {
    const name = words.slice(0, index + 1).join(' ')
    const known = parent.commands.find((command) => command.name() === word)
    return known ?? parent.command(word).description(groups[name] ?? '')
  }, program)
}

function describeCommand(
  command: CommanderCommand,
  { summary, args, options = [] }: CommandSpec,
): CommanderCommand {
  command.description(summary)
  if (args !== undefined) command.arguments(args)
  for (const [flags, description] of options) {
    const isRequired = flags.startsWith('!')
    command.option(
      isRequired ? flags.slice(1) : flags,
      description + (isRequired ? ' (required)' : ''),
    )
  }
  const required = options.flatMap(([flags]) => (flags.startsWith('!') ? [flags.slice(1)] : []))
  command.usage([...required, '[options]', ...(args === undefined ? [] : [args])].join(' '))
  return command.exitOverride((error) => {
    if (error.exitCode === 0) throw error
    if (error.code === 'commander.excessArguments') throw tooMany(command, options, error.message)
    const isMissing = error.code === 'commander.missingArgument'
    const missing = isMissing ? findMissing({ options }, command) : []
    throw wrongUsage(command, isMissing ? describeMissing(missing) : withoutPrefix(error.message))
  })
}

/**
 * Lists the required arguments that are missing from the command line, then the required options.
 */
function findMissing(
  { options = [] }: Pick<CommandSpec, 'options'>,
  command: CommanderCommand,
): string[] {
  const given: Record<string, unknown> = command.opts()
  const required = options.flatMap(([flags]) => (flags.startsWith('!') ? [flags.slice(1)] : []))
  const absent = command.options.filter(
    (option) => required.includes(option.flags) && given[option.attributeName()] === undefined,
  )
  const missingArguments = command.registeredArguments
    .filter((argument, index) => argument.required && command.args[index] === undefined)
    .map((argument) => `<${argument.name()}>`)
  return [...missingArguments, ...absent.map(({ flags }) => flags)]
}

function describeMissing(missing: readonly string[]): string {
  return `missing: ${missing.join(', ')}`
}

/** Adds the usage to a UsageError that the command throws while it runs. */
async function withUsage<T>(command: CommanderCommand, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof UsageError) error.usage ??= usageOf(command)
    throw error
  }
}

function unknownCommand(argv: readonly string[], commands: readonly CommandSpec[]): UsageError {
  const names = commands.map(({ name }) => name)
  const groups = names.flatMap((name) => {
    const words = name.split(' ')
    return words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '))
  })
  const all = [...new Set([...groups, ...names])]
  const { words, next } = findUnknown(argv, all)
  const near = [[...words, ...next], words].map((typed) => suggestCommands(typed, all))
  const [meant = []] = near.filter((some) => some.length > 0)
  const asked = meant.map((name) => `pillarbox ${name}`).join(', or ')
  const hint = meant.length === 0 ? '' : `\n(Did you mean ${asked}?)`
  return new UsageError(`unknown command '${words.join(' ')}'${hint}`)
}

/**
 * `words`: the typed words up to the first one that no command has, included. `next`: the word
 * after them, which may be part of the name, too.
 */
function findUnknown(argv: readonly string[], names: readonly string[]) {
  const values = argv.flatMap((word, index) => (word === '--config' ? [index + 1] : []))
  const typed = argv.filter((word, index) => !word.startsWith('-') && !values.includes(index))
  const isKnown = (count: number) => names.includes(typed.slice(0, count).join(' '))
  const known = typed.findIndex((_, index) => !isKnown(index + 1))
  const next = typed.slice(known + 1, known + 2).filter((word) => /^[a-z]+$/i.test(word))
  return { words: typed.slice(0, known + 1), next }
}

/**
 * Returns the error for one argument too many. It names the option that probably takes this
 * argument.
 */
function tooMany(
  command: CommanderCommand,
  options: NonNullable<CommandSpec['options']>,
  message: string,
): UsageError {
  const extra = command.args[command.registeredArguments.length] ?? ''
  const taking = options.flatMap(([flags]) => {
    const [, flag, takes] = /^!?(--[a-z-]+) <([^>]*)>$/.exec(flags) ?? []
    if (flag === undefined || takes === undefined) return []
    return [{ flag, takes, isRequired: flags.startsWith('!') }]
  })
  const flag = extra.endsWith('.toml') ? '--config' : suggestOption(extra, taking)?.flag
  const hint = flag === undefined ? '' : `\n(Did you mean ${flag} ${quoteWord(extra)}?)`
  return wrongUsage(command, withoutPrefix(message) + hint)
}

function wrongUsage(command: CommanderCommand, text: string): UsageError {
  const error = new UsageError(text)
  error.usage = usageOf(command)
  return error
}

/** Returns the usage line and no options: all options would push the message out of sight. */
function usageOf(command: CommanderCommand): string {
  const name = nameOf(command)
  return `Usage: ${name} ${command.usage()}\nFor all options: ${name} --help`
}

/** Returns the whole name of a command, such as `pillarbox queue list`. */
function nameOf(command: CommanderCommand): string {
  const { parent } = command
  return parent === null ? command.name() : `${nameOf(parent)} ${command.name()}`
}

function withoutPrefix(message: string): string {
  return message.replace(/^error: /, '')
}

function toContext(terminal: Terminal, program: CommanderCommand): Omit<CommandContext, 'typed'> {
  const { config, json } = program.opts()
  const isJson = json === true
  // With --json, standard error is kept free for errors.
  const note = (text: string) => isJson || terminal.stderr.write(`${escapeControls(text)}\n`)
  const configuration = findConfiguration({ terminal, configPath: config, note })
  return { terminal, configPath: config, isJson, configuration }
}

function toInput(command: CommanderCommand): Input {
  const options: Record<string, unknown> = command.opts()
  const text = (option: string) => {
    const value = options[option]
    return typeof value === 'string' ? value : undefined
  }
  return {
    args: command.args,
    text,
    required: (option) => text(option) ?? '',
    has: (flag) => options[flag] === true,
    choice: (option, choices) => {
      const given = text(option)
      if (given === undefined) return undefined
      const found = choices.find((choice) => choice.toLowerCase() === given.toLowerCase())
      if (found !== undefined) return found
      const flag = command.options.find((each) => each.attributeName() === option)?.long ?? option
      throw new UsageError(`${flag}: expected one of ${choices.join(', ')}`)
    },
  }
}

/**
 * Describes an error of commander. For a command line without a command, commander's error is the
 * whole help text.
 */
function describe({ code, message }: CommanderError, help: string): string {
  if (code !== 'commander.help') return withoutPrefix(message)
  return `which command?\n${help.trimEnd()}`
}
