/**
 * The words of the interface. The English ones of the frame are part of the first page, those of a screen come with
 * the screen (`addTexts`), and other languages are loaded whole when they are chosen.
 * A text is a string with `{places}`, or its plural forms, of which `count` chooses one.
 */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { type Forms, fillText, pseudo, type Values } from '../logic/fill.ts'
import { keep, readKept } from '../logic/storage.ts'
import { reasons } from './en/reasons.ts'
import { shell } from './en/shell.ts'
import type { en } from './en.ts'

export type TextKey = keyof typeof en
type Table = Readonly<Partial<Record<TextKey, string | Forms>>>

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type LanguageCode = keyof typeof LANGUAGES | 'pseudo'

const LOADERS: Record<LanguageCode, () => Table | Promise<Table>> = {
  en: () => english,
  de: async () => (await import('./de.ts')).de,
  pseudo: () => pseudo(english as Record<string, string | Forms>) as Table,
}

const STORED = 'pillarbox.language'

/** The English texts of all parts that were loaded. */
const english: Partial<Record<TextKey, string | Forms>> = { ...shell, ...reasons }

const current = signal<{ code: LanguageCode; table: Table }>({ code: 'en', table: english })

/** A part of the dashboard adds its English texts when it is loaded. */
export function addTexts(...tables: readonly Table[]): void {
  Object.assign(english, ...tables)
  if (current.peek().code === 'pseudo') void setLanguage('pseudo')
}

/** A BCP 47 tag, for `Intl` and `lang`. */
export function locale(): string {
  return current.value.code === 'pseudo' ? 'en' : current.value.code
}

/** Changes all texts. A language that cannot be loaded leaves the old one. */
export async function setLanguage(code: LanguageCode): Promise<void> {
  try {
    current.value = { code, table: await LOADERS[code]() }
  } catch (error) {
    console.warn(error)
  }
  document.documentElement.lang = locale()
}

/** The language that was chosen here before, or else the first of the browser's that exists. */
export function preferredLanguage(): LanguageCode {
  const stored = readKept(STORED)
  if (stored !== null && (stored in LANGUAGES || stored === 'pseudo')) return stored as LanguageCode
  const wanted = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return (wanted.find((tag) => tag in LANGUAGES) as LanguageCode | undefined) ?? 'en'
}

export function rememberLanguage(code: LanguageCode): void {
  keep(STORED, code)
}

export function t(key: TextKey, values: Values = {}): string {
  return fillText(current.value.table[key] ?? key, values, locale()).join('')
}

/** As `t`, with elements in the places. */
export function tx(key: TextKey, values: Record<string, ComponentChildren>): ComponentChildren {
  return fillText<ComponentChildren>(current.value.table[key] ?? key, values, locale())
}

/** The text of a code of the server, such as a state or a reason; undefined for a code without text. */
export function codeText(prefix: string, code: string, values: Values = {}): string | undefined {
  const key = `${prefix}.${code}`
  return key in current.value.table ? t(key as TextKey, values) : undefined
}
