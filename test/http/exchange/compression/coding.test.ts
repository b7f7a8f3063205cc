import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseCoding } from '../../../../src/http/exchange/compression/compressed-routes.ts'

const CASES: readonly [string | undefined, string | undefined][] = [
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip;q=0', undefined],
  ['gzip;q=0, br', 'br'],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['gzip, *;q=0', 'gzip'],
  ['identity', undefined],
  ['identity;q=1, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip;q=1', 'gzip'],
  ['identity;q=0', undefined],
  ['deflate', undefined],
  [',;q=,,', undefined],
]

for (const [accepted, coding] of CASES) {
  test(`a client that accepts ${JSON.stringify(accepted)} gets ${coding ?? 'no coding'}`, () => {
    assert.equal(chooseCoding(accepted), coding)
  })
}
