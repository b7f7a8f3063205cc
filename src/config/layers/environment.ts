/**
 * Reads settings from the environment: `delivery.mode` is PILLARBOX_DELIVERY__MODE. A list is
 * separated by commas or written as a JSON array.
 */

import type { Problem } from '../problems.ts'
import { isSettingKey, secretKeyOfFile, settingOf } from '../settings.ts'
import { type Given, type Layer, unknownKey } from './given.ts'

const PREFIX = 'PILLARBOX_'

/** Not a setting: the sandbox's welcome text uses this variable for the secret key. */
const API_KEY_VARIABLE = `${PREFIX}KEY`

export function readEnvironment(env: NodeJS.ProcessEnv): Layer {
  const given = new Map<string, Given>()
  const problems: Problem[] = []
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || name === API_KEY_VARIABLE || text === undefined) continue
    const key = name.slice(PREFIX.length).toLowerCase().replaceAll('__', '.')
    if (name !== variableOf(key)) problems.push(unknownVariable(key, name))
    else if (isSettingKey(key)) {
      given.set(key, { value: settingOf(key).kind.fromText(text), where: name })
    } else if (secretKeyOfFile(key)) given.set(key, { value: text, where: name })
    else problems.push(unknownVariable(key, name))
  }
  return { given, problems }
}

export function variableOf(key: string): string {
  return PREFIX + key.toUpperCase().replaceAll('.', '__')
}

function unknownVariable(key: string, name: string): Problem {
  const { meant, ...problem } = unknownKey(key, 'environment')
  const named = { ...problem, key: name }
  return meant === undefined ? named : { ...named, meant: variableOf(meant) }
}
