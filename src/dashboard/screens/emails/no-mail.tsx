/** A project without mail: how the first one is sent, with the real address of this server. */
import { config } from '../../api/session.ts'
import { t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { Empty } from '../../ui/state.tsx'

export function NoMail() {
  const api = config.value?.urls.api ?? location.origin
  const sender = config.value?.environment === 'sandbox' ? 'hello@example.test' : 'you@your-domain'
  const command = [
    `curl ${api}/v1/send \\`,
    `  -H "Authorization: Bearer $PILLARBOX_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"to": "you@example.net", "from": "${sender}",`,
    `       "subject": "Hello", "body": "<p>It works.</p>"}'`,
  ].join('\n')
  return (
    <Empty title={t('emails.empty')}>
      <p class="muted">{t('emails.empty.text')}</p>
      <code class="code plain">{command}</code>
      <p class="row">
        <Copy text={command} />
        <span class="small muted">{t('emails.empty.key')}</span>
      </p>
    </Empty>
  )
}
