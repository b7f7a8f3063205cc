/**
 * Parses CSV piece by piece (RFC 4180, leniently). A quoted field may contain line breaks and doubled
 * quotes. Lines end with CRLF, LF or CR, also mixed. A quote inside an unquoted field is text, as are
 * characters after a closing quote. Blanks before an opening quote are not part of the field.
 *
 * The parser reads every character once and keeps nothing of a record that is too long, so neither a
 * line of megabytes nor an unclosed quote costs more than other text. For this reason it is not
 * csv-parse: version 7 copies its whole field buffer for every field with text after a closing quote,
 * and creates an error object for every ragged row, so that 5 MB of either block the event loop for
 * seconds.
 */

export type Cell = {
  text: string
  /** Whether the cell was in quotes. */
  isQuoted: boolean
}

export type CsvRecord = {
  /** At most `maxCells`; empty if there is a problem. */
  cells: Cell[]
  /** The line where the record starts; the first is 1. */
  line: number
  problem?: 'too-long' | 'unclosed'
}

export type CsvParser = {
  /** Returns the records that end in this piece; an empty line is no record. */
  push(text: string): CsvRecord[]
  /** Returns the record after the last line break. */
  end(): CsvRecord[]
}

type CsvFormat = {
  /** One character. */
  delimiter: string
  /** Cells of a record; further cells are dropped. */
  maxCells: number
  /** Characters of a record, without its delimiters. */
  maxLength: number
}

const LF = 10
const CR = 13
const QUOTE = 34
const SPACE = 32
const TAB = 9

/** The position of the next character within a record. */
type CsvPlace = 'start' | 'plain' | 'quoted' | 'after-quote'

type ParserState = CsvFormat & {
  place: CsvPlace
  /** The text of the current cell from earlier pieces. */
  text: string
  isQuoted: boolean
  cells: Cell[]
  /** Characters of the record, including the current cell. */
  length: number
  isTooLong: boolean
  isEmpty: boolean
  line: number
  startLine: number
  /** Whether a following LF belongs to the preceding CR. */
  isAfterCr: boolean
  records: CsvRecord[]
}

export function createCsvParser(format: CsvFormat): CsvParser {
  const state: ParserState = {
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

function takeRecords(state: ParserState): CsvRecord[] {
  const { records } = state
  state.records = []
  return records
}

/** `from`: the start of the part of the cell that is not in `state.text` yet. */
function read(state: ParserState, text: string): void {
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

type Cursor = { text: string; from: number; at: number; code: number; delimiter: number }

/** Reads a character outside of quotes that does not end a line. Returns the new `from`. */
function readOutside(state: ParserState, { text, from, at, code, delimiter }: Cursor): number {
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

function add(state: ParserState, text: string, from: number, to: number): void {
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

function endCell(state: ParserState): void {
  if (!state.isTooLong && state.cells.length < state.maxCells) {
    state.cells.push({ text: state.text, isQuoted: state.isQuoted })
  }
  state.text = ''
  state.isQuoted = false
  state.place = 'start'
}

function endRecord(state: ParserState, problem: CsvRecord['problem']): void {
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
