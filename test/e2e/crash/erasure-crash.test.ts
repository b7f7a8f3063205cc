import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashDeletion, crashReset } from './crash-erasure.ts'

/** A longer run: `RESET_CONTACTS=100000`. */
const contacts = Number(process.env.RESET_CONTACTS ?? 2_000)
const kills = contacts > 20_000 ? 20 : 2
const runMs = 600

test('a reset ends whole and touches no other project, however often the server is killed', async (t) => {
  const killed = await crashReset(t, { contacts, kills, runMs })
  t.diagnostic(`${contacts} contacts, ${killed} kills on the way`)
  assert.ok(killed > 0)
})

test('a deletion leaves no trace of its project, however often the server is killed', async (t) => {
  const killed = await crashDeletion(t, { contacts, kills, runMs })
  t.diagnostic(`${contacts} contacts, ${killed} kills on the way`)
  assert.ok(killed > 0)
})
