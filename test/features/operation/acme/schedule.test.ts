import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/base/clock.ts'
import {
  barredUntil,
  orderDueAt,
  orderRetryDelay,
  renewalOf,
  restAfter,
} from '../../../../src/features/operation/acme/renewal.ts'
import { makeCertificate } from '../../../fakes/certificate.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const DIRECTORY = 'https://acme.example.test/directory'
const domains = ['mail.example.test', 'app.example.test']

function currentFor(lifeMs: number, names = domains) {
  const { cert } = makeCertificate(names, { validFrom: NOW, validTo: NOW + lifeMs })
  return { directoryUrl: DIRECTORY, domains: names, certificate: new X509Certificate(cert) }
}

describe('a certificate is ordered', () => {
  const wanted = { directoryUrl: DIRECTORY, domains }

  it('at two thirds of its life, up to a thirtieth of the life later, always at the same time', () => {
    for (let tries = 0; tries < 50; tries += 1) {
      const { certificate } = currentFor(90 * DAY_MS)
      const at = renewalOf(certificate)
      assert.ok(at >= NOW + 60 * DAY_MS && at <= NOW + 63 * DAY_MS, String(at))
      assert.equal(renewalOf(certificate), at)
    }
  })

  it('at once without one, for other names and from another directory', () => {
    const current = currentFor(90 * DAY_MS)
    assert.equal(orderDueAt(undefined, wanted, null), 0)
    assert.equal(
      orderDueAt(current, { ...wanted, domains: [...domains, 'b.example.test'] }, null),
      0,
    )
    assert.equal(orderDueAt(current, { ...wanted, domains: domains.slice(1) }, null), 0)
    assert.equal(orderDueAt(current, { ...wanted, directoryUrl: `${DIRECTORY}2` }, null), 0)
    const reversed = { ...wanted, domains: domains.toReversed() }
    assert.equal(orderDueAt(current, reversed, null), renewalOf(current.certificate))
  })

  it('earlier if the authority suggests it, and never later', () => {
    const current = currentFor(90 * DAY_MS)
    assert.equal(orderDueAt(current, wanted, NOW + DAY_MS), NOW + DAY_MS)
    assert.equal(orderDueAt(current, wanted, NOW + 89 * DAY_MS), renewalOf(current.certificate))
  })
})

describe('the delay after failures', () => {
  it('doubles to a limit, and varies by 15 %', () => {
    const delays = [1, 2, 3, 20, 1_000].map((count) => orderRetryDelay(count, 'refused', () => 0.5))
    assert.deepEqual(
      delays,
      [2, 4, 8, 360, 360].map((minutes) => minutes * MINUTE_MS),
    )
    const soon = [1, 2, 3, 20].map((count) => orderRetryDelay(count, 'unreachable', () => 0.5))
    assert.deepEqual(
      soon,
      [10, 20, 40, 3_600].map((seconds) => seconds * SECOND_MS),
    )
    assert.equal(
      orderRetryDelay(1, 'refused', () => 0),
      1.7 * MINUTE_MS,
    )
    assert.equal(
      orderRetryDelay(1, 'refused', () => 1),
      2.3 * MINUTE_MS,
    )
  })

  it('stays within the five failures an hour that an authority allows', () => {
    let [at, attempts] = [0, 0]
    while (at < HOUR_MS) {
      attempts += 1
      at += orderRetryDelay(attempts, 'refused', () => 0)
    }
    assert.ok(attempts <= 6, `${attempts} attempts`)
  })

  it('holds for the settings that failed only, and not for years after a wrong clock', () => {
    const state = { settings: 'a', failures: 2, nextAttemptAt: NOW + HOUR_MS, fault: 'x' }
    const asked = { settings: 'a', hasCurrent: true }
    assert.equal(barredUntil(state, asked, NOW), NOW + HOUR_MS)
    assert.equal(barredUntil(state, { ...asked, settings: 'b' }, NOW), 0)
    assert.equal(barredUntil(undefined, asked, NOW), 0)
    assert.equal(barredUntil({ ...state, nextAttemptAt: NOW + 400 * DAY_MS }, asked, NOW), 0)
  })

  it('keeps two orders apart even if each certificate is due at once', () => {
    const state = { settings: 'a', failures: 0, nextAttemptAt: NOW + HOUR_MS, fault: null }
    assert.equal(barredUntil(state, { settings: 'a', hasCurrent: true }, NOW), NOW + HOUR_MS)
    assert.equal(
      barredUntil(state, { settings: 'a', hasCurrent: false }, NOW),
      0,
      'the file is gone',
    )
    assert.equal(restAfter(currentFor(90 * DAY_MS).certificate), DAY_MS)
    assert.equal(restAfter(currentFor(5 * DAY_MS).certificate), 0.5 * DAY_MS)
  })
})
