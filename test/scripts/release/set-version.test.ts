import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { isVersion, setVersion } from '../../../scripts/release/set-version.ts'

const read = (file: string) =>
  readFileSync(path.join(import.meta.dirname, '../../..', file), 'utf8')
const files = { packageJson: read('package.json'), lock: read('package-lock.json') }

describe('the version of a release', () => {
  it('changes three lines of package.json and package-lock.json', () => {
    const next = setVersion(files, '12.3.4-rc.1')
    const lines = (text: string) => text.split('\n')
    const before = lines(files.packageJson + files.lock)
    const changed = lines(next.packageJson + next.lock).filter((line, at) => line !== before[at])
    assert.equal(changed.length, 3)
    for (const line of changed) assert.match(line, /^ +"version": "12\.3\.4-rc\.1",$/)
  })

  it('that the files have already changes nothing', () => {
    assert.deepEqual(setVersion(files, JSON.parse(files.packageJson).version), files)
  })

  it('has three numbers, and may be a pre-release', () => {
    const texts = [
      '0.2.0',
      '10.20.30',
      '1.0.0-rc.1',
      'v0.2.0',
      '0.2',
      '0.2.0+a',
      '0.2.0 ',
      '',
      '1.0.0-',
    ]
    const valid = texts.filter(isVersion)
    assert.deepEqual(valid, ['0.2.0', '10.20.30', '1.0.0-rc.1'])
  })
})
