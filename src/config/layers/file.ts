/** Finds and reads `pillarbox.toml`. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { describeError } from '../../base/errors.ts'
import { describeUnreadable, isRefused, runAs } from '../file-access.ts'
import { ConfigError, type ConfigProblem, describeFound } from '../problems.ts'
import { isSettingKey, secretKeyOfFile, settingKeys } from '../settings.ts'
import { quoteWord } from '../shell-word.ts'
import { type ConfigLayer, type GivenValue, unknownKey } from './given.ts'

export const FILE_NAME = 'pillarbox.toml'
export const SYSTEM_FILE = '/etc/pillarbox/pillarbox.toml'

const READABLE = { expected: 'a readable UTF-8 file', where: null }

const REDEFINED = /^trying to redefine .*|^.*redefine an already defined.*/i

export type FileSearch = {
  /** `--config`: this file and no other; null: none at all. */
  configPath?: string | null | undefined
  cwd: string
  /** The file that is read in place of /etc/pillarbox/pillarbox.toml. */
  systemFile?: string | undefined
}

/** The text and absolute path of the configuration file; null without one. */
export function readConfigFile(search: FileSearch): { file: string; text: string } | null {
  const { configPath, cwd } = search
  if (configPath === null) return null
  if (configPath !== undefined) {
    const file = path.resolve(cwd, configPath)
    const text = readText(file)
    if (text === undefined) throw missingFile(file)
    return { file, text }
  }
  for (const file of [path.join(cwd, FILE_NAME), search.systemFile ?? SYSTEM_FILE]) {
    const text = readText(file)
    if (text !== undefined) return { file, text }
  }
  return null
}

/**
 * Returns the text of a file; undefined when the file does not exist. @throws ConfigError when it cannot be
 * read
 */
function readText(file: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (isRefused(error)) throw refused(file)
    throw unreadable(file, describeError(error))
  }
}

function unreadable(file: string, found: string): ConfigError {
  return new ConfigError([{ key: file, found, ...READABLE }])
}

/** The error of a configuration file that must be there: it says which command writes it. */
export function missingFile(file: string, cause?: unknown): ConfigError {
  const remedy = `run pillarbox --config ${quoteWord(file)} init to write it`
  return new ConfigError([{ key: file, found: 'no such file', ...READABLE, remedy }], { cause })
}

/**
 * The error for a file that this user may not read: the command belongs to another user, or root wrote the
 * file for the server.
 */
function refused(file: string): ConfigError {
  const { found, ownerUid, isEntered } = describeUnreadable(file)
  // A user who cannot enter the present folder has come from another user's session, for example by `su`.
  const elsewhere = ', or in another folder, or name the file with --config'
  const remedy = isEntered
    ? runAs(ownerUid, file)
    : `${runAs(ownerUid)}${ownerUid === 0 ? elsewhere : ''}`
  return new ConfigError([{ key: file, found, ...READABLE, remedy }])
}

/** @throws ConfigError with line and column when the text is not TOML */
export function readToml({ file, text }: { file: string; text: string }): ConfigLayer {
  const given = new Map<string, GivenValue>()
  const problems: ConfigProblem[] = []
  const collect = (table: object, prefix: string): void => {
    for (const [name, value] of Object.entries(table)) {
      const key = prefix + name
      // A dot inside quotes is part of the name; no key has one.
      if (name.includes('.')) problems.push(unknownKey(key, file))
      else if (isSettingKey(key) || secretKeyOfFile(key)) given.set(key, { value, where: file })
      else if (!isSection(key)) problems.push(unknownKey(key, file))
      else if (isTable(value)) collect(value, `${key}.`)
      else problems.push({ key, found: describeFound(value), expected: 'a table', where: file })
    }
  }
  collect(parseToml(file, text), '')
  return { given, problems }
}

function isSection(key: string): boolean {
  return settingKeys.some((known) => known.startsWith(`${key}.`))
}

function isTable(value: unknown): value is object {
  const isObject = typeof value === 'object' && value !== null
  return isObject && !Array.isArray(value) && !(value instanceof Date)
}

function parseToml(file: string, text: string): object {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [first = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    const reason = first.replace(REDEFINED, 'this section or key is defined twice; keep one')
    const found = `an error at line ${error.line}, column ${error.column}: ${reason}`
    throw new ConfigError([{ key: file, found, expected: 'TOML', where: null }], { cause: error })
  }
}
