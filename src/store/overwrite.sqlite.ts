/**
 * Overwrites changed and deleted secrets, whose octets SQLite would leave in the free space of pages.
 * Copies that SQLite left earlier, when it moved rows, stay until their space is used again.
 */
import { sql } from './drizzle.ts'
import type { Tx } from './write/transaction.ts'

/** Runs writes of a transaction so that what they replace is overwritten in the file. */
export async function overwriting(tx: Tx, act: () => Promise<void>): Promise<void> {
  await tx.run(sql`pragma secure_delete = on`)
  try {
    await act()
  } finally {
    await tx.run(sql`pragma secure_delete = off`)
  }
}
