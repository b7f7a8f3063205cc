/** Texts with places: `{count} emails wait`. */
import { formatNumber } from './format.ts'

export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>
export type Values = Readonly<Record<string, string | number>>

/** To make one costs far more than to use it, and a list shows hundreds of texts. */
const rules = new Map<string, Intl.PluralRules>()

const PLACE = /\{(\w+)\}/

/** The pieces of the text, in their order. A number has the form of the language. */
export function fillText<Piece>(
  text: string | Forms,
  values: Readonly<Record<string, Piece>>,
  locale: string,
): (Piece | string)[] {
  const chosen = typeof text === 'string' ? text : chooseForm(text, values.count, locale)
  return chosen.split(PLACE).map((piece, index) => {
    if (index % 2 === 0) return piece
    const value = values[piece]
    if (value === undefined) return `{${piece}}`
    return typeof value === 'number' ? formatNumber(value, locale) : value
  })
}

function chooseForm(forms: Forms, count: unknown, locale: string): string {
  const known = rules.get(locale) ?? new Intl.PluralRules(locale)
  rules.set(locale, known)
  return forms[known.select(Number(count ?? 0))] ?? forms.other
}

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'ë',
  i: 'ï',
  o: 'ö',
  u: 'ü',
  A: 'Å',
  E: 'Ë',
  I: 'Ï',
  O: 'Ö',
  U: 'Ü',
  c: 'ç',
  n: 'ñ',
}

/** Texts 40 % longer and with accents, so that a test sees what does not fit and what is not translated. */
export function pseudo(
  table: Readonly<Record<string, string | Forms>>,
): Record<string, string | Forms> {
  const change = (text: string) => {
    const letters = text
      .split(/(\{\w+\})/)
      .map((piece, index) =>
        index % 2 === 1 ? piece : piece.replace(/[a-zA-Z]/g, (one) => ACCENTED[one] ?? one),
      )
      .join('')
    return `[${letters}${'~'.repeat(Math.ceil(text.length * 0.4))}]`
  }
  return Object.fromEntries(
    Object.entries(table).map(([key, text]) => [
      key,
      typeof text === 'string'
        ? change(text)
        : Object.fromEntries(
            Object.entries(text).map(([rule, one]) => [rule, change(one as string)]),
          ),
    ]),
  ) as Record<string, string | Forms>
}
