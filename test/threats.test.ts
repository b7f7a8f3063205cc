/**
 * The attacks (S) and faults (F) that the program is designed against, each with the test names that
 * prove it: a name begins with the numbers of its rows, `S3: …` or `F1, F6: …`. No row may lose its
 * last test.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { settingKeys } from '../src/config/settings.ts'

const rows: Record<string, string> = {
  S1: 'a bare CR or LF that ends a received message',
  S3: 'a bare CR or LF in a sent message',
  S4: 'commands before their time, also before TLS',
  S5: 'endless lines, headers, recipients and sessions',
  S6: 'CR, LF and NUL in fields of a message',
  S7: 'one address that reads as another',
  S8: 'MIME bombs',
  S9: 'files and URLs named in a request',
  S10: 'an open relay',
  S11: 'backscatter',
  S12: 'mail loops',
  S13: 'forged reports',
  S14: 'requests to internal addresses',
  S15: 'hostile DNS',
  S16: 'sessions that outlive a change of rights',
  S17: 'forged requests of browsers',
  S18: 'markup of strangers on a page',
  S19: 'hostile templates',
  S20: 'ids of another project',
  S21: 'forged links',
  S22: 'unsubscriptions by scanners',
  S23: 'hostile CSV files',
  S24: 'receivers of webhooks',
  S25: 'keys',
  S26: 'guessed passwords and floods of sign-ups',
  S27: 'projects that send spam',
  S28: 'hostile receivers of mail',
  S29: 'answers that nobody reads',
  S30: 'a secret in a record with many readers',
  S31: "one tenant's slow work in a shared worker",
  S32: 'what cannot be checked, taken as checked',
  S33: 'a key that everybody has, which changes people or tells who they are',
  S34: 'chains of workflows that start each other',
  S35: 'a server that floods our HTTP client',
  S36: 'a listener without the guards of the others',
  S38: 'names of others that resolve to the server',
  S37: 'limits of what costs nothing',
  S39: 'a stranger who sets the server up',
  F1: 'kill -9',
  F2: 'a peer that drops the connection',
  F3: 'disks and clocks that fail',
  F4: 'DNS or a large receiver that is down',
  F5: 'a refusal while DATA is on its way',
  F6: 'a restart during a campaign',
  F7: 'a database of an earlier time',
  F8: 'a database of a newer version',
  F9: 'millions of rows',
  F10: 'work that would stall the event loop',
}

const NAME = /\b(?:test|it|describe)(?:\.\w+)?\(\s*['"`]((?:[SF]\d+, )*[SF]\d+): /g

/** The rows that the names of this source begin with. */
function listRows(source: string): string[] {
  return [...source.matchAll(NAME)].flatMap(([, numbers = '']) => numbers.split(', '))
}

describe('the attacks and faults', () => {
  const tested = new Set<string>()
  for (const file of globSync('**/*.test.ts', { cwd: import.meta.dirname })) {
    const source = readFileSync(path.join(import.meta.dirname, file), 'utf8')
    for (const row of listRows(source)) tested.add(row)
  }

  it('have a test each', () => {
    const untested = Object.entries(rows).filter(([row]) => !tested.has(row))
    assert.deepEqual(untested, [])
  })

  it('have a row each', () => {
    const unknown = [...tested].filter((row) => !(row in rows))
    assert.deepEqual(unknown, [])
  })

  // S2 is S1 behind a proxy for mail: no listener of mail accepts the address of a client from a proxy.
  it('include smuggling through a proxy, once there is a setting for one', () => {
    const ofMail = settingKeys.filter((key) => /^(inbound|submission)\./.test(key))
    assert.ok(ofMail.length > 0)
    assert.deepEqual(
      ofMail.filter((key) => key.includes('prox')),
      [],
    )
  })

  it('are read from the names of tests only', () => {
    const source =
      "test('S1: a', …)\n  it(`F1, F6: b`, …)\ntest(\n  \"S9: c\")\n// S3: no\nlet a = 'S4: d'"
    assert.deepEqual(listRows(source), ['S1', 'F1', 'F6', 'S9'])
  })
})
