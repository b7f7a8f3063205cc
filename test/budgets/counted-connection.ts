/**
 * Connections that count the statements of the main thread, and the gate before its groups of writes. While
 * the gate is closed, a group finds the lock of the database taken, so whatever comes meanwhile waits and
 * is in one group afterwards, however slow the machine is.
 */
import type { Connection } from '../../src/store/connection.ts'
import { openConnection } from '../../src/store/connection.ts'
import { statementName } from './statement-name.ts'

export type CountedStatement = {
  name: string
  text: string
  count: number
  params: readonly unknown[]
}

export type CountedConnections = {
  connect: typeof openConnection
  /** By connection and text. */
  statements: Map<string, CountedStatement>
  /** Statements so far, whoever forgets `statements`. */
  total(): number
  close(): void
  open(): void
  isClosed(): boolean
  /** The connection that writes, uncounted. */
  writer(): Connection
}

export function createCountedConnections(): CountedConnections {
  const statements = new Map<string, CountedStatement>()
  let total = 0
  let isClosed = false
  let writer: Connection | undefined

  function count(place: string, text: string, params: readonly unknown[] = []): void {
    total += 1
    const key = `${place} ${text}`
    const known = statements.get(key)
    if (known !== undefined) known.count += 1
    else statements.set(key, { name: `${statementName(text)}${place}`, text, count: 1, params })
  }

  const connect: typeof openConnection = (options) => {
    const connection = openConnection(options)
    if (!options.isReadOnly) writer = connection
    // Reads within a write need no look at the file, those beside it do.
    const place = options.isReadOnly ? ', read' : ''
    const counted =
      <R>(text: string, act: () => R) =>
      (): R => {
        if (isClosed && text === 'BEGIN IMMEDIATE') throw busy()
        count(place, text)
        return act()
      }
    return {
      ...connection,
      run(text, params, shape) {
        count(place, text, params)
        return connection.run(text, params, shape)
      },
      each(text, params) {
        count(place, text, params)
        return connection.each(text, params)
      },
      command: (text) => counted(text, connection.command(text)),
      value: (text) => counted(text, connection.value(text)),
    }
  }

  return {
    connect,
    statements,
    total: () => total,
    close() {
      isClosed = true
    },
    open() {
      isClosed = false
    },
    isClosed: () => isClosed,
    writer() {
      if (writer === undefined) throw new Error('no connection writes')
      return writer
    },
  }
}

function busy(): Error {
  return Object.assign(new Error('the gate is closed'), { code: 'SQLITE_BUSY' })
}
