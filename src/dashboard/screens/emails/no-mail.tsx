/** A project without mail: how the first one is sent, with the real address of this server. */
import { config } from '../../api/session.ts'
import { writeCurl } from '../../logic/curl.ts'
import { parts as partTexts } from '../../text/en/parts.ts'
import { addTexts, t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { Empty } from '../../ui/state.tsx'

addTexts(partTexts)

export default function NoMail() {
  const url = (config.value?.urls.api ?? location.origin).replace(/\/$/, '')
  const from = config.value?.environment === 'sandbox' ? 'hello@example.test' : 'you@your-domain'
  const mail = { from, to: 'you@example.net', subject: 'Hello', body: '<p>It works.</p>' }
  const command = writeCurl(url, mail)
  return (
    <Empty title={t('emails.empty')}>
      <p class="muted">{t('emails.empty.text')}</p>
      <code class="code machine-text">{command}</code>
      <p class="row">
        <Copy text={command} />
        <span class="small muted">{t('emails.empty.key')}</span>
      </p>
    </Empty>
  )
}
