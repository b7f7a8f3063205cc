import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isNearEnd, scrollTo, stepTo, windowOf } from '../../src/dashboard/logic/window.ts'

const view = { count: 20_000, rowHeight: 36, above: 0, height: 900 }

describe('the window of a long list', () => {
  it('has the rows in view and some on both sides', () => {
    const { from, to } = windowOf({ ...view, above: 36 * 1_000 })
    assert.ok(from <= 990 && to >= 1_035)
  })

  it('has at most 80 rows on any screen', () => {
    for (const height of [320, 900, 2_160, 10_000]) {
      for (const above of [-500, 0, 17, 36 * 333 + 1, 36 * 19_999]) {
        const { from, to } = windowOf({ ...view, above, height })
        assert.ok(to - from <= 80 && from >= 0 && to <= view.count)
      }
    }
  })

  it('stays the same while a few pixels pass', () => {
    assert.deepEqual(
      windowOf({ ...view, above: 36 * 500 + 1 }),
      windowOf({ ...view, above: 36 * 501 }),
    )
  })

  it('is full at the end of the list', () => {
    const { from, to } = windowOf({ ...view, above: 36 * 20_000 })
    assert.equal(to, 20_000)
    assert.ok(to - from >= 25)
  })

  it('has all rows of a short list', () => {
    assert.deepEqual(windowOf({ ...view, count: 7, above: -120 }), { from: 0, to: 7 })
    assert.deepEqual(windowOf({ ...view, count: 0 }), { from: 0, to: 0 })
  })

  it('makes the rows in view at once, and few others in a frame', () => {
    const seen = { ...view, above: 36 * 5_000 }
    const aim = windowOf(seen)
    const jumped = stepTo({ from: 0, to: 57 }, aim, seen)
    assert.deepEqual(jumped, { from: 5_000, to: 5_031 })
    const spans = [jumped]
    for (let last = jumped; last.from !== aim.from || last.to !== aim.to; last = spans.at(-1)!) {
      const next = stepTo(last, aim, seen)
      const made = last.from - next.from + next.to - last.to
      assert.ok(made > 0 && made <= 6)
      spans.push(next)
    }
    assert.ok(spans.length <= 8)
  })

  it('makes only the rows that come while a list scrolls, and keeps the others', () => {
    const seen = { ...view, above: 36 * 502 }
    const before = windowOf({ ...view, above: 36 * 500 })
    assert.deepEqual(stepTo(before, windowOf(seen), seen), windowOf(seen))
    assert.deepEqual(windowOf(seen).from - before.from, 2)
    // Faster than the few rows of a frame, nothing in view is left out.
    const far = { ...view, above: 36 * 540 }
    assert.deepEqual(stepTo(before, windowOf(far), far), { from: 525, to: 571 })
  })

  it('moves to fewer rows when there are fewer', () => {
    const few = { ...view, count: 7 }
    assert.deepEqual(stepTo({ from: 485, to: 542 }, windowOf(few), few), { from: 0, to: 7 })
    assert.deepEqual(stepTo({ from: 0, to: 7 }, { from: 0, to: 0 }, { ...view, count: 0 }), {
      from: 0,
      to: 0,
    })
  })

  it('asks for the next page 1,500 pixels before the end', () => {
    const end = 36 * 20_000 - 900
    assert.equal(isNearEnd({ ...view, above: end - 1_500 }), false)
    assert.equal(isNearEnd({ ...view, above: end - 1_499 }), true)
  })

  it('scrolls only as far as a row needs', () => {
    const seen = { ...view, above: 3_600 }
    assert.equal(scrollTo(110, seen, 36), 0)
    assert.equal(scrollTo(100, seen, 36), -36)
    assert.equal(scrollTo(125, seen, 36), 36)
  })
})
