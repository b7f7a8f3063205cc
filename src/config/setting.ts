/** A key of the configuration. `settings.ts` has all of them. */
import type { SettingKind, TomlValue } from './values/kinds.ts'

export type Setting<T> = {
  kind: SettingKind<T>
  /** The default as a configuration file has it; null if the key is not set by default. */
  default: TomlValue | null
  description: string
  /** An example for a key without a default. */
  example?: TomlValue
  /** The effect of leaving the key unset, in words. */
  otherwise?: string
}

export function setting<T>(
  of: SettingKind<T>,
  byDefault: TomlValue,
  description: string,
): Setting<T> {
  return { kind: of, default: byDefault, description }
}

/** A key that may stay unset. */
export function optional<T>(
  of: SettingKind<T>,
  description: string,
  more: { example?: TomlValue; otherwise?: string } = {},
): Setting<T | null> {
  const kindOrNull: SettingKind<T | null> = {
    ...of,
    show: (value) => (value === null ? '' : of.show(value)),
  }
  return { kind: kindOrNull, default: null, description, ...more }
}
