/**
 * Merges the layers: every key takes the value of the environment, else of the file, else its
 * default. A secret may be in a file of its own (`<key>_file`).
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describeError } from '../../base/errors.ts'
import { type ConfigProblem, describeFound, describeHidden } from '../problems.ts'
import { type SettingKey, type SettingValues, settingKeys, settingOf } from '../settings.ts'
import type { ConfigLayer, GivenValue } from './given.ts'

/** The origin of every value that is not a default. */
export type SettingOrigins = ReadonlyMap<SettingKey, string>

type Effective = {
  /** The value of each key; a key with a problem has its default. */
  values: SettingValues
  origins: SettingOrigins
  problems: ConfigProblem[]
}

/** `layers`: in order of precedence. `folder`: the start of relative paths. */
export function takeEffect(layers: readonly ConfigLayer[], folder: string): Effective {
  const origins = new Map<SettingKey, string>()
  const problems: ConfigProblem[] = []
  const values = Object.fromEntries(
    settingKeys.map((key) => {
      const given = findGiven(layers, { key, folder, problems })
      if (given !== undefined) origins.set(key, given.where)
      return [key, readValue(key, given, problems)]
    }),
  )
  return { values: values as SettingValues, origins, problems }
}

type SettingSearch = { key: SettingKey; folder: string; problems: ConfigProblem[] }

function findGiven(layers: readonly ConfigLayer[], search: SettingSearch): GivenValue | undefined {
  for (const { given } of layers) {
    const [own, file] = [given.get(search.key), given.get(`${search.key}_file`)]
    if (own !== undefined && file !== undefined) search.problems.push(bothGiven(search.key, file))
    if (own !== undefined) return own
    if (file !== undefined) return readSecretFile(file, search)
  }
  return undefined
}

function bothGiven(key: SettingKey, { where }: GivenValue): ConfigProblem {
  return { key, found: `${key} and ${key}_file`, expected: 'only one of them', where }
}

/** Reads a secret from its file. If the file cannot be read, adds a problem and returns undefined. */
function readSecretFile(
  given: GivenValue,
  { key, folder, problems }: SettingSearch,
): GivenValue | undefined {
  const name = `${key}_file`
  if (typeof given.value !== 'string' || given.value === '') {
    const found = describeFound(given.value)
    problems.push({ key: name, found, expected: 'a path', where: given.where })
    return undefined
  }
  const file = path.resolve(folder, given.value)
  try {
    return { value: readFileSync(file, 'utf8').replace(/\r?\n$/, ''), where: file }
  } catch (error) {
    const found = describeError(error)
    problems.push({ key: name, found, expected: 'a readable file', where: given.where })
    return undefined
  }
}

function readValue(
  key: SettingKey,
  given: GivenValue | undefined,
  problems: ConfigProblem[],
): unknown {
  const { kind, default: byDefault } = settingOf(key)
  if (given !== undefined) {
    const value = kind.read(given.value)
    if (value !== undefined) return value
    const found = kind.isSecret ? describeHidden(given.value) : describeFound(given.value)
    problems.push({ key, found, expected: kind.expected, where: given.where })
  }
  return byDefault === null ? null : kind.read(byDefault)
}
