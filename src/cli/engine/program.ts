/**
 * The engine of the command line: builds the commands from their table, reports wrong usage and
 * loads the code of the command that runs.
 */
import { Command as CommanderCommand, CommanderError } from 'commander'
import {
  type CommandContext,
  type CommandSpec,
  type Input,
  type Result,
  UsageError,
} from './command.ts'
import type { Terminal } from './terminal.ts'

/** Commands, and the description of each group (all words of a name but the last). */
type CommandTable = {
  groups: Readonly<Record<string, string>>
  commands: readonly CommandSpec[]
}

/**
 * Runs the command that `argv` names. Null after a help text.
 * @throws UsageError for a wrong command line, and every error of the command
 */
export async function runProgram(
  { groups, commands }: CommandTable,
  terminal: Terminal,
  argv: readonly string[],
): Promise<Result> {
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
      result = await addUsage(command, () => run(toContext(terminal, program), toInput(command)))
    })
  }
  try {
    // Many people type `--version`; here the version is a command.
    const words = argv[0] === '--version' ? ['version', ...argv.slice(1)] : argv
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw new UsageError(describe(error, help))
  }
  return result
}

/** Finds or adds the group that these words name; the program itself without words. */
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
  return command.exitOverride((error) => {
    if (error.exitCode === 0) throw error
    const isMissing = error.code === 'commander.missingArgument'
    const missing = isMissing ? findMissing({ options }, command) : []
    throw wrongUsage(command, isMissing ? describeMissing(missing) : withoutPrefix(error.message))
  })
}

/** Required arguments, then required options, that the command line lacks. */
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

/** Adds the command's usage to a UsageError that the command itself throws. */
async function addUsage<T>(command: CommanderCommand, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof UsageError) error.usage ??= usageOf(command)
    throw error
  }
}

function wrongUsage(command: CommanderCommand, text: string): UsageError {
  const error = new UsageError(text)
  error.usage = usageOf(command)
  return error
}

function usageOf(command: CommanderCommand): string {
  return command.helpInformation().trimEnd()
}

function withoutPrefix(message: string): string {
  return message.replace(/^error: /, '')
}

function toContext(terminal: Terminal, program: CommanderCommand): CommandContext {
  const { config, json } = program.opts()
  return { terminal, configPath: config, isJson: json === true }
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

/** Without a command, commander reports the whole help text as its error. */
function describe({ code, message }: CommanderError, help: string): string {
  if (code !== 'commander.help') return withoutPrefix(message)
  return `which command?\n${help.trimEnd()}`
}
