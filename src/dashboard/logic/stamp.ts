/**
 * The text of the postmark: `1 XII` and `08:58`. As on many old ones, the month is a Roman numeral, which all languages
 * read. In the zone of the browser it needs no format of a language: the first one costs as much as drawing the sign-in.
 */
import { formatDate } from './format.ts'

const MONTHS = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII']

/** `timeZone`: undefined for the zone of the browser. */
export function stampText(at: Date, timeZone: string | undefined): { day: string; time: string } {
  const iso =
    timeZone === undefined
      ? new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString()
      : formatDate('isoSecond', at, { locale: 'sv', timeZone })
  const month = MONTHS[Number(iso.slice(5, 7)) - 1]
  return { day: `${Number(iso.slice(8, 10))} ${month}`, time: iso.slice(11, 16) }
}
