import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinFiles, type Modules } from '../../scripts/dashboard/chunks.ts'

/** Modules of ten bytes, unless their size is given. */
function makeModules(
  imports: Record<string, readonly string[]>,
  sizes: Record<string, number> = {},
): Modules {
  return new Map(
    Object.entries(imports).map(([name, others]) => [
      name,
      { bytes: sizes[name] ?? 10, imports: others, isForeign: name.startsWith('package') },
    ]),
  )
}

const alone = (parts: readonly string[], limit: number) =>
  parts.map((part) => ({ parts: [part], limit }))

describe('the files of the dashboard', () => {
  const imports = {
    ...{ main: ['base'], base: [], one: ['a', 'ab', 'abc'], two: ['ab', 'abc'], three: ['abc'] },
    ...{ four: [], a: [], ab: ['base'], abc: [] },
  }
  const parts = ['one', 'two', 'three', 'four']

  it('stay as they are while no screen loads too many', () => {
    const joined = joinFiles({
      ...{ modules: makeModules(imports), frame: ['main'], parts },
      loadings: alone(parts, 3),
    })
    assert.deepEqual(joined.frame.toSorted(), ['base', 'main'])
    assert.deepEqual(joined.parts.get('three')?.toSorted(), ['abc', 'base', 'main', 'three'])
  })

  it('are joined where that makes screens load the least', () => {
    const joinAt = (sizes: Record<string, number>) =>
      joinFiles({
        ...{ modules: makeModules(imports, sizes), frame: ['main'], parts },
        loadings: alone(parts, 2),
      })
    // In one file: three loads `ab` in vain.
    const small = joinAt({ abc: 100 })
    assert.ok(small.parts.get('three')?.includes('ab'))
    assert.ok(!small.parts.get('four')?.includes('abc'))
    // In the frame: four loads `abc` in vain.
    const large = joinAt({ ab: 100 })
    assert.ok(large.frame.includes('abc'))
    assert.ok(!large.parts.get('three')?.includes('ab'))
  })

  it('take along what their modules import', () => {
    const modules = makeModules({
      ...{ main: [], one: ['x', 'y'], two: ['x', 'y', 'z'], three: ['y'], four: [] },
      ...{ x: ['deep'], y: [], z: [], deep: [] },
    })
    const loadings = alone(parts, 2)
    const joined = joinFiles({ modules, frame: ['main'], parts, loadings })
    for (const part of parts) {
      const loaded = joined.parts.get(part) ?? []
      assert.equal(loaded.includes('deep'), loaded.includes('x'), part)
    }
  })

  it('leave the modules of packages to what imports them', () => {
    const modules = makeModules({
      ...{ main: [], one: ['package', 'x'], two: ['package', 'x'], three: ['x'], four: [] },
      ...{ package: [], x: [] },
    })
    const loadings = alone(parts, 3)
    const joined = joinFiles({ modules, frame: ['main'], parts, loadings })
    assert.ok(!joined.parts.get('one')?.includes('package'))
    assert.throws(
      () => joinFiles({ modules, frame: ['main'], parts, loadings: alone(parts, 1) }),
      /more parts than files/,
    )
  })

  it('cannot be fewer than the parts that a screen shows', () => {
    assert.throws(
      () =>
        joinFiles({
          ...{ modules: makeModules(imports), frame: ['main'], parts },
          loadings: [{ parts: ['one', 'two'], limit: 1 }],
        }),
      /more parts than files/,
    )
  })
})
