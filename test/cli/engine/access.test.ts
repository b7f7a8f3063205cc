/** Errors of files in data_dir that belong to others, told from those of ports and other folders. */
import assert from 'node:assert/strict'
import { chownSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { explainStrayFiles } from '../../../src/cli/engine/access.ts'
import { makeFolder } from '../../config/config-folder.ts'

const skip = process.geteuid?.() === 0 ? false : 'only root can give files to others'

describe('an error in a data_dir that has files of another user', { skip }, () => {
  const dataDir = makeFolder()
  before(() => {
    for (const name of ['lost+found', 'secret']) {
      mkdirSync(path.join(dataDir, name))
      chownSync(path.join(dataDir, name), 65_534, 65_534)
    }
  })

  const explain = (error: Error) => () => explainStrayFiles({ dataDir }, error)
  const refused = (fields: object) =>
    Object.assign(new Error('refused'), { code: 'EACCES', ...fields })

  it('names them if it is about one of them, or comes from the database', () => {
    const errors = [
      refused({ path: path.join(dataDir, 'secret') }),
      refused({ path: path.join(dataDir, 'lost+found/x'), code: 'EPERM' }),
      new Error('it fails', { cause: refused({ path: path.join(dataDir, 'secret') }) }),
      refused({ code: 'SQLITE_CANTOPEN' }),
      refused({ code: 'SQLITE_READONLY', path: path.join(dataDir, 'pillarbox.db') }),
    ]
    for (const error of errors) {
      assert.throws(explain(error), {
        code: 'FORBIDDEN',
        message: /belong to .*: lost\+found, secret$/,
      })
    }
  })

  it('stays as it is for a port and for other files', () => {
    const errors = [
      refused({ syscall: 'listen', address: '0.0.0.0', port: 25 }),
      refused({ syscall: 'kill', code: 'EPERM' }),
      refused({ path: '/var/backups/pillarbox/x' }),
      refused({ path: path.join(dataDir, 'uploads/x') }),
      refused({ path: `${dataDir}-other/secret` }),
    ]
    for (const error of errors) assert.throws(explain(error), error)
  })
})
