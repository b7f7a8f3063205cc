import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nextPath } from '../../src/dashboard/logic/next-path.ts'

it('a sign-in leads to the screen that was asked for', () => {
  for (const path of ['/app', '/app/me', '/app/0199a7c0/emails?status=failed#row', '/app/?a=%2F']) {
    assert.equal(nextPath(path, ''), path)
  }
  assert.equal(nextPath('/mail/app/me', '/mail'), '/mail/app/me')
})

it('a sign-in leads nowhere else', () => {
  const wanted = [
    ...[undefined, '', 'app/me', 'https://evil.test/app/me', '//evil.test/app', '///evil.test/app'],
    ...['/\\evil.test/app', '\\\\evil.test', '/\t/evil.test/app', '/\n//evil.test', ' //evil.test'],
    ...['javascript:alert(1)', 'data:text/html,x', '/app:8080@evil.test', '/apps', '/application'],
    ...[
      '/app/../auth/logout',
      '/app/..%2fauth/logout',
      '/app/%2e%2e/auth/logout',
      '/app//evil.test',
    ],
    ...['/app/\\evil.test', '/app/%5cevil.test', '/auth/logout', '/', '/?next=/app'],
  ]
  for (const one of wanted) assert.equal(nextPath(one, ''), '/app', String(one))
  assert.equal(nextPath('/app/me', '/mail'), '/mail/app')
  assert.equal(nextPath('/mail/../app/me', '/mail'), '/mail/app')
})

it('a sign-in does not lead back to a door', () => {
  for (const door of ['login', 'signup', 'forgot', 'setup', 'login/']) {
    assert.equal(nextPath(`/app/${door}?next=/app/me`, ''), '/app')
  }
})
