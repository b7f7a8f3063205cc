/** Which columns of a list a person sees, in which order and how wide, as the browser keeps it. */

/** `widths`: pixels, by column; a column without one has the width of the style sheet. */
export type Arrangement = {
  shown: readonly string[]
  widths: Readonly<Record<string, number>>
}

/** `isExtra`: hidden until it is chosen. `isFixed`: always shown, since it opens the row. */
export type Arrangeable = { key: string; isExtra?: boolean; isFixed?: boolean }

/** Of the kept text. One of another version is as good as none. */
const VERSION = 1
export const MIN_WIDTH = 64
export const MAX_WIDTH = 640

/** What a list shows to somebody who changed nothing. */
export function usual(columns: readonly Arrangeable[]): Arrangement {
  return {
    shown: columns.filter(({ isExtra = false }) => !isExtra).map(({ key }) => key),
    widths: {},
  }
}

export function writeArrangement({ shown, widths }: Arrangement): string {
  return JSON.stringify({ version: VERSION, shown, widths })
}

/** Reads a kept text. Columns that do not exist are left out, and a text that makes no sense is ignored. */
export function readArrangement(text: string | null, columns: readonly Arrangeable[]): Arrangement {
  const kept = parse(text)
  if (kept === undefined) return usual(columns)
  const keys = new Set(columns.map(({ key }) => key))
  const shown = [...new Set(kept.shown)].filter((key) => keys.has(key))
  const fixed = columns.filter(({ isFixed = false }) => isFixed).map(({ key }) => key)
  return {
    shown: [...fixed.filter((key) => !shown.includes(key)), ...shown],
    widths: Object.fromEntries(
      Object.entries(kept.widths)
        .filter(([key]) => keys.has(key))
        .map(([key, width]) => [key, fitWidth(width)]),
    ),
  }
}

function parse(text: string | null): Arrangement | undefined {
  try {
    const { version, shown, widths } = JSON.parse(text ?? 'null') ?? {}
    const isSound =
      version === VERSION &&
      Array.isArray(shown) &&
      shown.every((key) => typeof key === 'string') &&
      typeof widths === 'object' &&
      widths !== null &&
      Object.values(widths).every((width) => Number.isFinite(width))
    return isSound ? { shown, widths } : undefined
  } catch {
    return undefined
  }
}

/** The columns that are shown, in their order. */
export function arrange<Column extends Arrangeable>(
  columns: readonly Column[],
  { shown }: Arrangement,
): Column[] {
  return shown.flatMap((key) => columns.find((column) => column.key === key) ?? [])
}

export function withWidth(arrangement: Arrangement, key: string, width: number): Arrangement {
  return { ...arrangement, widths: { ...arrangement.widths, [key]: fitWidth(width) } }
}

function fitWidth(width: number): number {
  return Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width)))
}

/** A column without a width of its own needs at least this. */
const OTHER_WIDTH = 96

/** The widths of the shown columns, made smaller in proportion where all would not fit into `available` pixels. */
export function widthsWithin(
  { shown, widths }: Arrangement,
  available: number,
): Readonly<Record<string, number>> {
  const own = shown.flatMap((key) =>
    widths[key] === undefined ? [] : [[key, widths[key]] as const],
  )
  const sum = own.reduce((total, [, width]) => total + width, 0)
  const room = available - (shown.length - own.length) * OTHER_WIDTH
  const scale = sum === 0 ? 1 : Math.min(1, Math.max(0, room) / sum)
  return Object.fromEntries(own.map(([key, width]) => [key, Math.floor(width * scale)]))
}
