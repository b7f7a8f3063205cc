/** Counts the statements that the connections of this process run. */
import type { TestContext } from 'node:test'
import Database from 'better-sqlite3'

/** The texts of the statements that `act` runs, in their order. */
export async function statementsOf(t: TestContext, act: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = []
  const database = new Database(':memory:')
  const prototype = Object.getPrototypeOf(database.prepare('select 1')) as Database.Statement
  database.close()
  const mocks = (['run', 'all', 'get'] as const).map((name) => {
    const original = prototype[name]
    return t.mock.method(prototype, name, function (this: Database.Statement, ...values: []) {
      texts.push(this.source)
      return original.apply(this, values)
    })
  })
  await act()
  for (const { mock } of mocks) mock.restore()
  return texts
}
