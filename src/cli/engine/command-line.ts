/**
 * Writes commands in the texts of the program as the operator must type them. Errors and advice
 * come from every room, and from the running server. They do not know that `--config` was given, so
 * this option is added when they are printed. Texts of people, such as a subject, are printed
 * unchanged.
 */
import { quoteWord } from '../../config/shell-word.ts'

/**
 * Matches `pillarbox queue` unless it is part of a path; group 1 is the first word of the command.
 */
const CALL = /(?<![\w/.-])pillarbox (?=([a-z]+)(?![\w-]))/g

/**
 * Writes a command line with shell quoting, such as `pillarbox queue release --domain dest.test`.
 */
export function formatCommand(words: readonly string[], configPath?: string): string {
  const option = configPath === undefined ? [] : ['--config', configPath]
  return ['pillarbox', ...option, ...words].map(quoteWord).join(' ')
}

/**
 * Returns a function that adds `--config` to the commands in a text, if `argv` has this option.
 * `commands`: the names of all commands.
 */
export function typedLike(
  argv: readonly string[],
  commands: readonly string[],
): (text: string) => string {
  const configPath = findConfigPath(argv)
  if (configPath === undefined) return (text) => text
  const firstWords = new Set(commands.map((name) => name.split(' ')[0]))
  const call = `${formatCommand([], configPath)} `
  return (text) => text.replaceAll(CALL, (found, word) => (firstWords.has(word) ? call : found))
}

/** Returns the value of `--config`, even if the rest of the command line is wrong. */
function findConfigPath(argv: readonly string[]): string | undefined {
  const at = argv.findLastIndex((word) => word === '--config' || word.startsWith('--config='))
  const word = argv[at]
  return word === '--config' ? argv[at + 1] : word?.slice('--config='.length)
}
