/**
 * A CSV as people's programs write it, a piece of text at a time (RFC 4180, read leniently):
 * fields may be in quotes, in which a line may break and a quote is doubled; lines end with CRLF, LF
 * or CR, also mixed; a quote inside a field that began without one is text, as is what follows a
 * closing quote; blanks before an opening quote are no part of the field.
 *
 * Every character is looked at once, and nothing is kept of a record that is longer than it may be:
 * neither one line of megabytes nor a quote that nobody closes costs more than any other text.
 * That is why it is our own: csv-parse 7 copies its whole field buffer for every field with text
 * behind a closing quote and makes an error object of every ragged row, so that 5 MB of either hold
 * the event loop for seconds.
 */

export type Cell = {
  text: string
  /** It stood in quotes. */
  isQuoted: boolean
}

export type CsvRecord = {
  /** At most as many as the parser was told; none where there is a problem. */
  cells: Cell[]
  /** The line that it begins in; the first is 1. */
  line: number
  problem?: 'too-long' | 'unclosed'
}

export type CsvParser = {
  /** The records that end in this piece; empty lines are none. */
  push(text: string): CsvRecord[]
  /** What stands behind the last line break. */
  end(): CsvRecord[]
}

export type CsvFormat = {
  /** One character. */
  delimiter: string
  /** Cells of a record behind so many are left out. */
  maxCells: number
  /** Characters of a record without its delimiters. */
  maxLength: number
}

const LF = 10
const CR = 13
const QUOTE = 34
const SPACE = 32
const TAB = 9

/** Where in a record the next character stands. */
type Place = 'start' | 'plain' | 'quoted' | 'after-quote'

type State = CsvFormat & {
  place: Place
  /** The cell under way, as far as earlier pieces had it. */
  text: string
  isQuoted: boolean
  cells: Cell[]
  /** Of the record, those of the cell under way included. */
  length: number
  isTooLong: boolean
  isEmpty: boolean
  line: number
  startLine: number
  /** A LF that comes now belongs to the CR before it. */
  isAfterCr: boolean
  records: CsvRecord[]
}

export function createCsvParser(format: CsvFormat): CsvParser {
  const state: State = {
    ...format,
    place: 'start',
    text: '',
    isQuoted: false,
    cells: [],
    length: 0,
    isTooLong: false,
    isEmpty: true,
    line: 1,
    startLine: 1,
    isAfterCr: false,
    records: [],
  }
  return {
    push(text) {
      read(state, text)
      return takeRecords(state)
    },
    end() {
      if (!state.isEmpty) endRecord(state, state.place === 'quoted' ? 'unclosed' : undefined)
      return takeRecords(state)
    },
  }
}

function takeRecords(state: State): CsvRecord[] {
  const { records } = state
  state.records = []
  return records
}

/** `from`: where the part of the cell begins that is not in `state.text` yet. */
function read(state: State, text: string): void {
  const delimiter = state.delimiter.charCodeAt(0)
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const isBreak = code === LF || code === CR
    const isSecondHalf = code === LF && state.isAfterCr
    state.isAfterCr = code === CR
    if (isBreak && !isSecondHalf) state.line += 1
    if (state.place === 'quoted') {
      if (code !== QUOTE) continue
      add(state, text, from, at)
      from = at + 1
      state.place = 'after-quote'
    } else if (isBreak) {
      add(state, text, from, at)
      if (!state.isEmpty) endRecord(state, undefined)
      from = at + 1
      state.startLine = state.line
    } else {
      state.isEmpty = false
      from = readOutside(state, { text, from, at, code, delimiter })
    }
  }
  add(state, text, from, text.length)
}

type Here = { text: string; from: number; at: number; code: number; delimiter: number }

/** Outside of quotes, and not at the end of a line; gives back the new `from`. */
function readOutside(state: State, { text, from, at, code, delimiter }: Here): number {
  if (code === delimiter) {
    add(state, text, from, at)
    endCell(state)
    return at + 1
  }
  if (state.place === 'after-quote') {
    state.place = code === QUOTE ? 'quoted' : 'plain'
    return at
  }
  if (state.place === 'plain') return from
  if (code === QUOTE) {
    state.text = ''
    state.isQuoted = true
    state.place = 'quoted'
    return at + 1
  }
  if (code !== SPACE && code !== TAB) state.place = 'plain'
  return from
}

function add(state: State, text: string, from: number, to: number): void {
  if (from >= to) return
  state.isEmpty = false
  state.length += to - from
  if (state.length > state.maxLength) {
    state.isTooLong = true
    state.cells = []
    state.text = ''
  } else if (state.cells.length < state.maxCells) {
    state.text += text.slice(from, to)
  }
}

function endCell(state: State): void {
  if (!state.isTooLong && state.cells.length < state.maxCells) {
    state.cells.push({ text: state.text, isQuoted: state.isQuoted })
  }
  state.text = ''
  state.isQuoted = false
  state.place = 'start'
}

function endRecord(state: State, problem: CsvRecord['problem']): void {
  endCell(state)
  const wrong = state.isTooLong ? 'too-long' : problem
  state.records.push({
    cells: wrong === undefined ? state.cells : [],
    line: state.startLine,
    ...(wrong === undefined ? {} : { problem: wrong }),
  })
  state.cells = []
  state.length = 0
  state.isTooLong = false
  state.isEmpty = true
}
