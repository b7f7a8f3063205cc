/** Writes settings as TOML: a new file for `init`, the effective values for `config show`. */
import { stringify } from 'smol-toml'
import type { SettingOrigins } from '../layers/effective.ts'
import type { Setting } from '../setting.ts'
import { type SettingKey, type SettingValues, settingKeys, settingOf } from '../settings.ts'
import type { TomlValue } from './kinds.ts'

const HIDDEN = '(hidden)'

const WIDTH = 90

type BySetting<T> = Partial<Record<SettingKey, T>>

/**
 * Every key with its description, commented out at its default unless `given` sets it. `secretFiles`: the
 * files of secrets.
 */
export function formatNewFile(
  given: BySetting<TomlValue>,
  secretFiles: BySetting<string> = {},
): string {
  const head = [
    '# Configuration of Pillarbox. Keys that are commented out have their defaults.',
    '# The environment can set any key: delivery.mode is PILLARBOX_DELIVERY__MODE.',
    '# Durations: "500ms", "1s", "5m", "2h", "3d". Sizes: bytes. Relative paths start at this folder.',
  ].join('\n')
  const body = formatSections((key, name) => {
    const setting = settingOf(key)
    const value = given[key]
    const shown = assign(name, value ?? setting.default ?? setting.example ?? '')
    const file = secretFiles[key]
    const fromFile = file === undefined ? [] : [assign(`${name}_file`, file)]
    const line = value === undefined ? `# ${shown}` : shown
    return [...describeSetting(key, setting), line, ...fromFile, '']
  })
  return `${head}\n\n${body}`
}

/** The value of every key and its origin; secrets are hidden. */
export function formatEffective(values: SettingValues, origins: SettingOrigins): string {
  return formatSections((key, name) => {
    const value = showSetting(key, values)
    if (value === null) return [`# ${name} is not set`]
    return [`${assign(name, value)}  # ${origins.get(key) ?? 'default'}`]
  })
}

/** The value as TOML; null when it is not set; `(hidden)` for a secret. */
export function showSetting(key: SettingKey, values: SettingValues): TomlValue | null {
  const { kind } = settingOf(key)
  const value = values[key]
  if (value === null) return null
  return kind.isSecret ? HIDDEN : kind.show(value)
}

/** TOML requires the keys of a table before its sub-tables. */
function formatSections(format: (key: SettingKey, name: string) => string[]): string {
  const sections = Map.groupBy(settingKeys, sectionOf)
  const texts = [...sections].map(([section, keys]) => {
    const lines = keys.flatMap((key) => format(key, key.slice(key.lastIndexOf('.') + 1)))
    const head = section === '' ? [] : [`[${section}]`]
    return `${[...head, ...lines].join('\n').trimEnd()}\n`
  })
  return texts.join('\n')
}

function sectionOf(key: SettingKey): string {
  return key.slice(0, Math.max(key.lastIndexOf('.'), 0))
}

function describeSetting(key: SettingKey, { kind, description, otherwise }: Setting<unknown>) {
  const byDefault = otherwise === undefined ? '' : ` Default: ${otherwise}.`
  const fromFile = kind.isSecret ? ` ${key.split('.').at(-1)}_file reads it from a file.` : ''
  return wrap(`${description}${byDefault}${fromFile}`).map((line) => `# ${line}`)
}

function assign(name: string, value: TomlValue): string {
  return stringify({ [name]: value }).trimEnd()
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
