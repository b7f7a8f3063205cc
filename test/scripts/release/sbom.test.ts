import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import packageJson from '../../../package.json' with { type: 'json' }
import { type Lock, makeSbom } from '../../../scripts/release/sbom.ts'

const file = path.join(import.meta.dirname, '../../../package-lock.json')
const readLock = (): Lock => JSON.parse(readFileSync(file, 'utf8'))
const commit = {
  hash: '0123456789abcdef0123456789abcdef01234567',
  time: '2026-12-01T08:00:00.000Z',
}

/** Root needs a and b; both need c, b another version of it; d is for development. */
const small: Lock = {
  packages: {
    '': { name: 'own', version: '1.0.0', dependencies: { a: '1', '@s/b': '1' } },
    'node_modules/a': {
      ...{ version: '1.0.0', license: 'MIT', dependencies: { c: '1' } },
      integrity: `sha512-${Buffer.from('abc').toString('base64')}`,
    },
    'node_modules/@s/b': {
      ...{ version: '1.1.0', license: 'MIT OR ISC', dependencies: { c: '2' } },
      ...{ peerDependencies: { x: '1' }, peerDependenciesMeta: { x: { optional: true } } },
    },
    'node_modules/@s/b/node_modules/c': { version: '2.0.0', dependencies: { a: '1' } },
    'node_modules/c': { version: '1.0.0' },
    'node_modules/d': { version: '1.0.0' },
  },
}

describe('the bill of materials', () => {
  it('has each package that is needed, and what each needs, as Node finds it', () => {
    const { components, dependencies } = makeSbom(small, commit)
    const refs = components.map((each) => each['bom-ref'])
    assert.deepEqual(refs, ['@s/b@1.1.0', 'a@1.0.0', 'c@1.0.0', 'c@2.0.0'])
    assert.deepEqual(dependencies, [
      { ref: '@s/b@1.1.0', dependsOn: ['c@2.0.0'] },
      { ref: 'a@1.0.0', dependsOn: ['c@1.0.0'] },
      { ref: 'c@1.0.0', dependsOn: [] },
      { ref: 'c@2.0.0', dependsOn: ['a@1.0.0'] },
      { ref: 'own@1.0.0', dependsOn: ['@s/b@1.1.0', 'a@1.0.0'] },
    ])
    const [b, a] = components
    assert.deepEqual(
      [b?.purl, b?.licenses, a?.hashes, a?.licenses],
      [
        'pkg:npm/%40s/b@1.1.0',
        [{ expression: 'MIT OR ISC' }],
        [{ alg: 'SHA-512', content: '616263' }],
        [{ license: { id: 'MIT' } }],
      ],
    )
  })

  it('refuses a lock that lacks a package', () => {
    const broken = { packages: { '': { dependencies: { gone: '1' } } } }
    assert.throws(() => makeSbom(broken, commit), /has no gone/)
  })

  it('has every dependency of the program, and none of the development alone', () => {
    const names = new Set(makeSbom(readLock(), commit).components.map(({ name }) => name))
    const { dependencies, optionalDependencies } = packageJson
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      assert.ok(names.has(name), name)
    }
    assert.ok(!names.has('typescript') && !names.has('esbuild'))
  })

  it('is the same for the same commit, in whatever order the lock has its packages', () => {
    const lock = readLock()
    const packages = Object.fromEntries(Object.entries(lock.packages).reverse())
    const bill = JSON.stringify(makeSbom(lock, commit))
    assert.equal(JSON.stringify(makeSbom({ packages }, commit)), bill)
    assert.match(
      bill,
      /"serialNumber":"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"/,
    )
    assert.ok(bill.includes(`"timestamp":"${commit.time}"`))
    const other = makeSbom(lock, { ...commit, hash: 'f'.repeat(40) })
    assert.notEqual(other.serialNumber, JSON.parse(bill).serialNumber)
  })
})
