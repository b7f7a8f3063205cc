/** Settings as the text of a `pillarbox.toml`: a new file for `init`, what holds for `config show`. */
import { stringify } from 'smol-toml'
import type { Origins } from '../layers/effective.ts'
import {
  type Setting,
  type SettingKey,
  type SettingValues,
  settingKeys,
  settingOf,
} from '../settings.ts'
import type { TomlValue } from './kinds.ts'

export const hidden = '(hidden)'

const WIDTH = 90

/** Every key with its meaning, commented out at its default but for those in `given`. */
export function formatNewFile(given: Partial<Record<SettingKey, TomlValue>>): string {
  const head = [
    '# Configuration of Pillarbox. What is commented out stands at its default.',
    '# Any key can be set by environment too: delivery.mode is PILLARBOX_DELIVERY__MODE.',
    '# Durations are "500ms", "1s", "5m", "2h", "3d"; sizes are bytes; relative paths count from here.',
  ].join('\n')
  const body = formatSections((key, name) => {
    const setting = settingOf(key)
    const value = given[key]
    const shown = assign(name, value ?? setting.default ?? setting.example ?? '')
    return [...describeSetting(key, setting), value === undefined ? `# ${shown}` : shown, '']
  })
  return `${head}\n\n${body}`
}

/** What every key holds and who says so, secrets hidden. */
export function formatEffective(values: SettingValues, origins: Origins): string {
  return formatSections((key, name) => {
    const value = showSetting(key, values)
    if (value === null) return [`# ${name} is not set`]
    return [`${assign(name, value)}  # ${origins.get(key) ?? 'default'}`]
  })
}

/** As TOML; null when it is not set; the text `(hidden)` for a secret that is. */
export function showSetting(key: SettingKey, values: SettingValues): TomlValue | null {
  const { kind } = settingOf(key)
  const value = values[key]
  if (value === null) return null
  return kind.isSecret ? hidden : kind.show(value)
}

/** A table's own keys come before its tables, as TOML wants it. */
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
  const byDefault = otherwise === undefined ? '' : ` Not set: ${otherwise}.`
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
