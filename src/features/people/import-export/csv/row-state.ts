/**
 * The subscription state of a row. The first filled cell of `subscribed` decides alone. Without
 * such a cell, the row unsubscribes if any other column says that the person left, and this counts
 * as the person's wish.
 *
 * A scan of the file counts the words by which its columns say whether people get mail, so that an
 * unread word subscribes or unsubscribes no person.
 */
import type { StateWord } from '../../../../records/import.ts'
import { isBlank, readCellText } from './cell.ts'
import type { Header, StateColumn } from './header.ts'
import type { CsvRecord } from './parser.ts'
import {
  isWordOfLeaving,
  readStateText,
  type StateKind,
  type StateReading,
  simplify,
} from './state-columns.ts'

type SeenState = { column: StateColumn; text: string; reading: StateReading }

/**
 * `subscribed`: undefined if the row keeps the state of a contact. `hasLeft`: another service says
 * that the person left. `getsMailElsewhere`: another service says that the person gets mail.
 */
type RowState = { subscribed: boolean | undefined; hasLeft: boolean; getsMailElsewhere: boolean }

type Count = { rows: number; reading: StateReading }

type ColumnCounts = {
  kind: StateKind
  words: Map<string, Count>
  /** The number of rows with further words, by the reading of the word. */
  others: Map<StateReading, number>
}

/** By the header of the column. */
export type StateScan = Map<string, ColumnCounts>

/** The number of words of a column that are counted one by one. */
const MAX_WORDS = 20
const MAX_WORD_LENGTH = 40
/** The number of columns that the result and the warnings name. */
const MAX_COLUMNS = 10

export function readState(record: CsvRecord, header: Header): RowState {
  let isLeft = header.isOfPeopleWhoLeft
  let isGood = false
  for (const { column, reading } of statesOf(record, header)) {
    if (column.kind === 'subscribed') {
      return { subscribed: reading === 'subscribed', hasLeft: false, getsMailElsewhere: false }
    }
    if (reading === 'unsubscribed') isLeft = true
    if (reading === 'unchanged') isGood = true
  }
  const getsMailElsewhere = isGood && !isLeft
  return { subscribed: isLeft ? false : undefined, hasLeft: isLeft, getsMailElsewhere }
}

/** Adds the cells of a record. */
export function scanStates(scan: StateScan, record: CsvRecord, header: Header): void {
  for (const { column, text, reading } of statesOf(record, header)) {
    let counts = scan.get(column.name)
    if (counts === undefined) {
      counts = { kind: column.kind, words: new Map(), others: new Map() }
      scan.set(column.name, counts)
    }
    const { words, others } = counts
    const word = text.slice(0, MAX_WORD_LENGTH).toWellFormed().toLowerCase()
    const known = words.get(word)
    // A time at which a person left is not counted as a word.
    const mayBeTime = column.kind === 'left' || column.kind === 'likely'
    const isWord = !mayBeTime || reading === 'unchanged' || isWordLike(word)
    if (known !== undefined) known.rows += 1
    else if (isWord && words.size < MAX_WORDS) words.set(word, { rows: 1, reading })
    else others.set(reading, (others.get(reading) ?? 0) + 1)
  }
}

/** The words with their counts, and warnings of what people may not expect. */
export function describeStates(
  scan: StateScan,
  header: Pick<Header, 'isOfPeopleWhoLeft'> | undefined,
): { words: StateWord[]; warnings: string[] } {
  const columns = [...scan].slice(0, MAX_COLUMNS)
  const warnings = columns.flatMap(([name, counts]) => warningsOf(name, counts))
  const ofFile = 'By its name, the file has people who left: they are read as unsubscribed.'
  return {
    words: columns.flatMap(([name, counts]) => wordsOf(name, counts)),
    warnings: header?.isOfPeopleWhoLeft ? [ofFile, ...warnings] : warnings,
  }
}

/** Yields the cells that say something of the subscription, up to the one that decides alone. */
function* statesOf({ cells }: CsvRecord, header: Header): Generator<SeenState> {
  for (const column of header.states) {
    const cell = cells[column.index]
    if (cell === undefined || isBlank(cell, header)) continue
    const text = readCellText(cell, header)
    yield { column, text, reading: readStateText(column.kind, text) }
    if (column.kind === 'subscribed') return
  }
}

function isWordLike(word: string): boolean {
  return !/\d{2}/.test(word) && word.length <= MAX_WORD_LENGTH / 2
}

function wordsOf(column: string, { words, others }: ColumnCounts): StateWord[] {
  const shown = (word: string | null, rows: number, reading: StateReading): StateWord => ({
    ...{ column, word, rows },
    readAs: reading === 'unknown' ? 'unchanged' : reading,
  })
  return [
    ...[...words].map(([word, { rows, reading }]) => shown(word, rows, reading)),
    ...[...others].map(([reading, rows]) => shown(null, rows, reading)),
  ]
}

function warningsOf(name: string, counts: ColumnCounts): string[] {
  const { kind } = counts
  const isExpected = (word: string | null) =>
    kind === 'subscribed' && word !== null && isWordOfLeaving(word)
  const left = list(counts, (word, reading) => reading === 'unsubscribed' && !isExpected(word))
  const unknown = list(counts, (_word, reading) => reading === 'unknown')
  return [
    ...(left === '' ? [] : [`The column "${name}" ${left}: read as unsubscribed.`]),
    ...(unknown === '' || isOfOthers(name, counts) ? [] : [whyUnused(name, unknown)]),
  ]
}

/**
 * Whether a column such as `state` seems to be about something else, because no word in it says who
 * left.
 */
function isOfOthers(name: string, { kind, words, others }: ColumnCounts): boolean {
  if (kind === 'likely') return false
  if ([...words.keys()].some(isWordOfLeaving)) return false
  return others.size > 0 || simplify(name) === 'state'
}

function whyUnused(name: string, words: string): string {
  return (
    `The column "${name}" ${words}: not read, so they unsubscribe nobody. If it says who left, name it in ` +
    `the field "mapping": as {"${name}": "subscribed"} if active, enabled or yes stand for people who get ` +
    `mail, as {"${name}": "unsubscribed"} if it is filled for people who left, as {"${name}": null} to ` +
    'leave it out. Only "unsubscribed" lasts: later files subscribe these people only with resubscribe=true.'
  )
}

/** `has the words ja (3,749), nein (1,251)`, or an empty text */
function list(
  { words, others }: ColumnCounts,
  isListed: (word: string | null, reading: StateReading) => boolean,
): string {
  const listed = [...words].filter(([word, { reading }]) => isListed(word, reading))
  let rest = 0
  for (const [reading, rows] of others) if (isListed(null, reading)) rest += rows
  if (listed.length === 0)
    return rest === 0 ? '' : `is filled in ${show(rest)} ${rest === 1 ? 'row' : 'rows'}`
  const texts = listed.map(([word, { rows }]) => `${word} (${show(rows)})`)
  return `has the words ${[...texts, ...(rest === 0 ? [] : [`others (${show(rest)})`])].join(', ')}`
}

function show(count: number): string {
  return count.toLocaleString('en-US')
}
