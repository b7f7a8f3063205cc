/** The texts about limits of emails in a month, in each language. `texts.ts` explains their parts. */
import type { Language } from '../../../../formats/languages.ts'
import type { UsageTexts } from './texts.ts'

export const USAGE_TRANSLATIONS: Readonly<Record<Language, UsageTexts>> = {
  en: {
    warning: '{project} has used 80% of its email limit',
    reached: '{project} has reached its email limit',
    text: 'The project {project} at {server} has used {used} of {limit} emails this month. The limit is for: {category}.',
    categories: {
      transactional: 'transactional emails',
      campaigns: 'emails of campaigns',
      workflows: 'emails of workflows',
      inbound: 'received emails',
      shared: 'all emails together',
    },
    atLimit: {
      transactional:
        'At the limit, the server refuses transactional emails until the next month (UTC) begins or the limit is raised.',
      campaigns:
        'At the limit, campaigns are paused. They can be resumed when the next month (UTC) begins or the limit is raised.',
      workflows:
        'At the limit, workflow steps that send emails fail until the next month (UTC) begins or the limit is raised. They can be retried afterwards.',
      inbound: 'Received emails are only counted: the server accepts them at the limit too.',
      shared:
        'At the limit, the server sends no emails for the project until the next month (UTC) begins or the project has a subscription. It still receives emails.',
    },
  },
  nl: {
    warning: '{project} heeft 80% van de e-maillimiet gebruikt',
    reached: '{project} heeft de e-maillimiet bereikt',
    text: 'Het project {project} op {server} heeft deze maand {used} van {limit} e-mails gebruikt. De limiet geldt voor: {category}.',
    categories: {
      transactional: 'transactionele e-mails',
      campaigns: 'e-mails van campagnes',
      workflows: 'e-mails van workflows',
      inbound: 'ontvangen e-mails',
      shared: 'alle e-mails samen',
    },
    atLimit: {
      transactional:
        'Is de limiet bereikt, dan weigert de server transactionele e-mails totdat de volgende maand (UTC) begint of de limiet wordt verhoogd.',
      campaigns:
        'Is de limiet bereikt, dan worden campagnes gepauzeerd. Ze kunnen worden hervat zodra de volgende maand (UTC) begint of de limiet wordt verhoogd.',
      workflows:
        'Is de limiet bereikt, dan mislukken stappen van workflows die e-mails versturen, totdat de volgende maand (UTC) begint of de limiet wordt verhoogd. Daarna kunnen ze opnieuw worden uitgevoerd.',
      inbound:
        'Ontvangen e-mails worden alleen geteld: de server accepteert ze ook als de limiet is bereikt.',
      shared:
        'Is de limiet bereikt, dan verstuurt de server geen e-mails voor het project totdat de volgende maand (UTC) begint of het project een abonnement heeft. E-mails ontvangen blijft mogelijk.',
    },
  },
  fr: {
    warning: '{project} a utilisé 80 % de sa limite d’e-mails',
    reached: '{project} a atteint sa limite d’e-mails',
    text: 'Le projet {project} sur {server} a utilisé {used} e-mails sur {limit} ce mois-ci. La limite concerne : {category}.',
    categories: {
      transactional: 'les e-mails transactionnels',
      campaigns: 'les e-mails des campagnes',
      workflows: 'les e-mails des workflows',
      inbound: 'les e-mails reçus',
      shared: 'l’ensemble des e-mails',
    },
    atLimit: {
      transactional:
        'Une fois la limite atteinte, le serveur refuse les e-mails transactionnels jusqu’au début du mois suivant (UTC) ou jusqu’à ce que la limite soit relevée.',
      campaigns:
        'Une fois la limite atteinte, les campagnes sont mises en pause. Elles peuvent reprendre au début du mois suivant (UTC) ou lorsque la limite est relevée.',
      workflows:
        'Une fois la limite atteinte, les étapes de workflows qui envoient des e-mails échouent jusqu’au début du mois suivant (UTC) ou jusqu’à ce que la limite soit relevée. Elles peuvent ensuite être relancées.',
      inbound:
        'Les e-mails reçus sont seulement comptés : le serveur les accepte même une fois la limite atteinte.',
      shared:
        'Une fois la limite atteinte, le serveur n’envoie plus d’e-mails pour le projet jusqu’au début du mois suivant (UTC) ou jusqu’à ce que le projet ait un abonnement. Il continue de recevoir des e-mails.',
    },
  },
  hi: {
    warning: '{project} ने अपनी ईमेल सीमा का 80% उपयोग कर लिया है',
    reached: '{project} अपनी ईमेल सीमा तक पहुँच गया है',
    text: '{server} पर प्रोजेक्ट {project} ने इस महीने {limit} में से {used} ईमेल का उपयोग किया है। यह सीमा इनके लिए है: {category}।',
    categories: {
      transactional: 'ट्रांज़ैक्शनल ईमेल',
      campaigns: 'कैंपेन के ईमेल',
      workflows: 'वर्कफ़्लो के ईमेल',
      inbound: 'प्राप्त ईमेल',
      shared: 'सभी ईमेल मिलाकर',
    },
    atLimit: {
      transactional:
        'सीमा पूरी होने पर सर्वर ट्रांज़ैक्शनल ईमेल तब तक स्वीकार नहीं करता, जब तक अगला महीना (UTC) शुरू न हो जाए या सीमा बढ़ाई न जाए।',
      campaigns:
        'सीमा पूरी होने पर कैंपेन रोक दिए जाते हैं। अगला महीना (UTC) शुरू होने पर या सीमा बढ़ाए जाने पर उन्हें फिर से चालू किया जा सकता है।',
      workflows:
        'सीमा पूरी होने पर ईमेल भेजने वाले वर्कफ़्लो के चरण तब तक विफल होते हैं, जब तक अगला महीना (UTC) शुरू न हो जाए या सीमा बढ़ाई न जाए। उसके बाद उन्हें फिर से चलाया जा सकता है।',
      inbound: 'प्राप्त ईमेल केवल गिने जाते हैं: सर्वर सीमा पूरी होने पर भी उन्हें स्वीकार करता है।',
      shared:
        'सीमा पूरी होने पर सर्वर इस प्रोजेक्ट के लिए तब तक कोई ईमेल नहीं भेजता, जब तक अगला महीना (UTC) शुरू न हो जाए या प्रोजेक्ट की सदस्यता न ली जाए। ईमेल प्राप्त होते रहते हैं।',
    },
  },
  de: {
    warning: '{project} hat 80 % des E-Mail-Limits verbraucht',
    reached: '{project} hat das E-Mail-Limit erreicht',
    text: 'Das Projekt {project} auf {server} hat diesen Monat {used} von {limit} E-Mails verbraucht. Das Limit gilt für: {category}.',
    categories: {
      transactional: 'Transaktions-E-Mails',
      campaigns: 'E-Mails von Kampagnen',
      workflows: 'E-Mails von Workflows',
      inbound: 'empfangene E-Mails',
      shared: 'alle E-Mails zusammen',
    },
    atLimit: {
      transactional:
        'Ist das Limit erreicht, lehnt der Server Transaktions-E-Mails ab, bis der nächste Monat (UTC) beginnt oder das Limit erhöht wird.',
      campaigns:
        'Ist das Limit erreicht, werden Kampagnen angehalten. Sie lassen sich fortsetzen, sobald der nächste Monat (UTC) beginnt oder das Limit erhöht wird.',
      workflows:
        'Ist das Limit erreicht, schlagen Workflow-Schritte fehl, die E-Mails senden, bis der nächste Monat (UTC) beginnt oder das Limit erhöht wird. Danach lassen sie sich wiederholen.',
      inbound:
        'Empfangene E-Mails werden nur gezählt: Der Server nimmt sie auch am Limit weiterhin an.',
      shared:
        'Ist das Limit erreicht, sendet der Server keine E-Mails für das Projekt, bis der nächste Monat (UTC) beginnt oder das Projekt ein Abonnement hat. E-Mails werden weiterhin empfangen.',
    },
  },
  pt: {
    warning: '{project} usou 80% do seu limite de e-mails',
    reached: '{project} atingiu o seu limite de e-mails',
    text: 'O projeto {project} em {server} usou {used} de {limit} e-mails neste mês. O limite vale para: {category}.',
    categories: {
      transactional: 'e-mails transacionais',
      campaigns: 'e-mails de campanhas',
      workflows: 'e-mails de fluxos de trabalho',
      inbound: 'e-mails recebidos',
      shared: 'todos os e-mails em conjunto',
    },
    atLimit: {
      transactional:
        'Atingido o limite, o servidor recusa e-mails transacionais até o início do próximo mês (UTC) ou até que o limite seja aumentado.',
      campaigns:
        'Atingido o limite, as campanhas são pausadas. Podem ser retomadas no início do próximo mês (UTC) ou quando o limite for aumentado.',
      workflows:
        'Atingido o limite, as etapas de fluxos de trabalho que enviam e-mails falham até o início do próximo mês (UTC) ou até que o limite seja aumentado. Depois disso, podem ser repetidas.',
      inbound:
        'Os e-mails recebidos são apenas contados: o servidor os aceita mesmo depois de atingido o limite.',
      shared:
        'Atingido o limite, o servidor não envia e-mails do projeto até o início do próximo mês (UTC) ou até que o projeto tenha uma assinatura. Os e-mails continuam a ser recebidos.',
    },
  },
  bg: {
    warning: '{project} използва 80% от своя лимит за имейли',
    reached: '{project} достигна своя лимит за имейли',
    text: 'Проектът {project} на {server} е използвал {used} от {limit} имейла този месец. Лимитът се отнася за: {category}.',
    categories: {
      transactional: 'транзакционни имейли',
      campaigns: 'имейли от кампании',
      workflows: 'имейли от работни процеси',
      inbound: 'получени имейли',
      shared: 'всички имейли общо',
    },
    atLimit: {
      transactional:
        'При достигнат лимит сървърът отказва транзакционни имейли, докато започне следващият месец (UTC) или лимитът бъде увеличен.',
      campaigns:
        'При достигнат лимит кампаниите се спират на пауза. Те могат да бъдат продължени, когато започне следващият месец (UTC) или лимитът бъде увеличен.',
      workflows:
        'При достигнат лимит стъпките на работни процеси, които изпращат имейли, са неуспешни, докато започне следващият месец (UTC) или лимитът бъде увеличен. След това те могат да бъдат повторени.',
      inbound: 'Получените имейли само се броят: сървърът ги приема и след достигане на лимита.',
      shared:
        'При достигнат лимит сървърът не изпраща имейли за проекта, докато започне следващият месец (UTC) или проектът получи абонамент. Имейлите продължават да се получават.',
    },
  },
  cs: {
    warning: '{project} využil 80 % svého limitu e-mailů',
    reached: '{project} dosáhl svého limitu e-mailů',
    text: 'Projekt {project} na {server} tento měsíc využil {used} z {limit} e-mailů. Limit platí pro: {category}.',
    categories: {
      transactional: 'transakční e-maily',
      campaigns: 'e-maily kampaní',
      workflows: 'e-maily workflow',
      inbound: 'přijaté e-maily',
      shared: 'všechny e-maily dohromady',
    },
    atLimit: {
      transactional:
        'Po dosažení limitu server odmítá transakční e-maily, dokud nezačne další měsíc (UTC) nebo dokud není limit zvýšen.',
      campaigns:
        'Po dosažení limitu se kampaně pozastaví. Pokračovat mohou, jakmile začne další měsíc (UTC) nebo je limit zvýšen.',
      workflows:
        'Po dosažení limitu kroky workflow, které odesílají e-maily, selhávají, dokud nezačne další měsíc (UTC) nebo dokud není limit zvýšen. Poté je lze zopakovat.',
      inbound: 'Přijaté e-maily se pouze počítají: server je přijímá i po dosažení limitu.',
      shared:
        'Po dosažení limitu server za projekt neodesílá e-maily, dokud nezačne další měsíc (UTC) nebo dokud projekt nemá předplatné. E-maily nadále přijímá.',
    },
  },
  pl: {
    warning: '{project} wykorzystał 80% limitu e-maili',
    reached: '{project} osiągnął limit e-maili',
    text: 'Projekt {project} na {server} wykorzystał w tym miesiącu {used} z {limit} e-maili. Limit obejmuje: {category}.',
    categories: {
      transactional: 'e-maile transakcyjne',
      campaigns: 'e-maile z kampanii',
      workflows: 'e-maile z przepływów pracy',
      inbound: 'odebrane e-maile',
      shared: 'wszystkie e-maile łącznie',
    },
    atLimit: {
      transactional:
        'Po osiągnięciu limitu serwer odrzuca e-maile transakcyjne, dopóki nie zacznie się następny miesiąc (UTC) lub limit nie zostanie zwiększony.',
      campaigns:
        'Po osiągnięciu limitu kampanie są wstrzymywane. Można je wznowić, gdy zacznie się następny miesiąc (UTC) lub limit zostanie zwiększony.',
      workflows:
        'Po osiągnięciu limitu kroki przepływów pracy, które wysyłają e-maile, kończą się niepowodzeniem, dopóki nie zacznie się następny miesiąc (UTC) lub limit nie zostanie zwiększony. Potem można je ponowić.',
      inbound:
        'Odebrane e-maile są tylko liczone: serwer przyjmuje je także po osiągnięciu limitu.',
      shared:
        'Po osiągnięciu limitu serwer nie wysyła e-maili projektu, dopóki nie zacznie się następny miesiąc (UTC) lub projekt nie będzie miał subskrypcji. E-maile są nadal odbierane.',
    },
  },
  es: {
    warning: '{project} ha usado el 80 % de su límite de correos',
    reached: '{project} ha alcanzado su límite de correos',
    text: 'El proyecto {project} en {server} ha usado {used} de {limit} correos este mes. El límite se aplica a: {category}.',
    categories: {
      transactional: 'correos transaccionales',
      campaigns: 'correos de campañas',
      workflows: 'correos de flujos de trabajo',
      inbound: 'correos recibidos',
      shared: 'todos los correos en conjunto',
    },
    atLimit: {
      transactional:
        'Al alcanzar el límite, el servidor rechaza los correos transaccionales hasta que empiece el mes siguiente (UTC) o se aumente el límite.',
      campaigns:
        'Al alcanzar el límite, las campañas se ponen en pausa. Se pueden reanudar cuando empiece el mes siguiente (UTC) o se aumente el límite.',
      workflows:
        'Al alcanzar el límite, los pasos de flujos de trabajo que envían correos fallan hasta que empiece el mes siguiente (UTC) o se aumente el límite. Después se pueden repetir.',
      inbound:
        'Los correos recibidos solo se cuentan: el servidor los acepta también una vez alcanzado el límite.',
      shared:
        'Al alcanzar el límite, el servidor no envía correos del proyecto hasta que empiece el mes siguiente (UTC) o el proyecto tenga una suscripción. Sigue recibiendo correos.',
    },
  },
  it: {
    warning: '{project} ha usato l’80% del suo limite di email',
    reached: '{project} ha raggiunto il suo limite di email',
    text: 'Il progetto {project} su {server} ha usato {used} di {limit} email questo mese. Il limite riguarda: {category}.',
    categories: {
      transactional: 'email transazionali',
      campaigns: 'email delle campagne',
      workflows: 'email dei workflow',
      inbound: 'email ricevute',
      shared: 'tutte le email insieme',
    },
    atLimit: {
      transactional:
        'Raggiunto il limite, il server rifiuta le email transazionali fino all’inizio del mese successivo (UTC) o finché il limite non viene aumentato.',
      campaigns:
        'Raggiunto il limite, le campagne vengono messe in pausa. Possono riprendere all’inizio del mese successivo (UTC) o quando il limite viene aumentato.',
      workflows:
        'Raggiunto il limite, i passaggi dei workflow che inviano email non riescono fino all’inizio del mese successivo (UTC) o finché il limite non viene aumentato. In seguito possono essere ripetuti.',
      inbound:
        'Le email ricevute vengono soltanto contate: il server le accetta anche dopo aver raggiunto il limite.',
      shared:
        'Raggiunto il limite, il server non invia email del progetto fino all’inizio del mese successivo (UTC) o finché il progetto non ha un abbonamento. Le email continuano a essere ricevute.',
    },
  },
  'zh-TW': {
    warning: '{project} 已使用電子郵件額度的 80%',
    reached: '{project} 已達到電子郵件額度上限',
    text: '{server} 上的專案 {project} 本月已使用 {used} 封電子郵件，上限為 {limit} 封。此上限適用於：{category}。',
    categories: {
      transactional: '交易型電子郵件',
      campaigns: '行銷活動的電子郵件',
      workflows: '工作流程的電子郵件',
      inbound: '收到的電子郵件',
      shared: '所有電子郵件合計',
    },
    atLimit: {
      transactional:
        '達到上限後，伺服器會拒絕交易型電子郵件，直到下個月（UTC）開始或提高上限為止。',
      campaigns: '達到上限後，行銷活動會暫停。下個月（UTC）開始或提高上限後，即可繼續。',
      workflows:
        '達到上限後，工作流程中寄送電子郵件的步驟會失敗，直到下個月（UTC）開始或提高上限為止。之後可以重試。',
      inbound: '收到的電子郵件只會計數：達到上限後，伺服器仍會接收。',
      shared:
        '達到上限後，伺服器不會為此專案寄送電子郵件，直到下個月（UTC）開始或專案已有訂閱方案為止。仍可接收電子郵件。',
    },
  },
  'zh-HK': {
    warning: '{project} 已使用電郵限額的 80%',
    reached: '{project} 已達到電郵限額',
    text: '{server} 上的項目 {project} 本月已使用 {used} 封電郵，限額為 {limit} 封。此限額適用於：{category}。',
    categories: {
      transactional: '交易電郵',
      campaigns: '推廣活動的電郵',
      workflows: '工作流程的電郵',
      inbound: '收到的電郵',
      shared: '所有電郵合計',
    },
    atLimit: {
      transactional: '達到限額後，伺服器會拒絕交易電郵，直至下個月（UTC）開始或限額提高為止。',
      campaigns: '達到限額後，推廣活動會暫停。下個月（UTC）開始或限額提高後，便可繼續。',
      workflows:
        '達到限額後，工作流程中發送電郵的步驟會失敗，直至下個月（UTC）開始或限額提高為止。其後可以重試。',
      inbound: '收到的電郵只會計數：達到限額後，伺服器仍會接收。',
      shared:
        '達到限額後，伺服器不會為此項目發送電郵，直至下個月（UTC）開始或項目已有訂閱計劃為止。仍可接收電郵。',
    },
  },
  'zh-CN': {
    warning: '{project} 已使用邮件额度的 80%',
    reached: '{project} 已达到邮件额度上限',
    text: '{server} 上的项目 {project} 本月已使用 {used} 封邮件，上限为 {limit} 封。此上限适用于：{category}。',
    categories: {
      transactional: '事务性邮件',
      campaigns: '营销活动的邮件',
      workflows: '工作流的邮件',
      inbound: '收到的邮件',
      shared: '所有邮件合计',
    },
    atLimit: {
      transactional: '达到上限后，服务器会拒绝事务性邮件，直到下个月（UTC）开始或提高上限为止。',
      campaigns: '达到上限后，营销活动会暂停。下个月（UTC）开始或提高上限后，即可继续。',
      workflows:
        '达到上限后，工作流中发送邮件的步骤会失败，直到下个月（UTC）开始或提高上限为止。之后可以重试。',
      inbound: '收到的邮件只会计数：达到上限后，服务器仍会接收。',
      shared:
        '达到上限后，服务器不会为该项目发送邮件，直到下个月（UTC）开始或项目已有订阅为止。仍可接收邮件。',
    },
  },
  ja: {
    warning: '{project} がメールの上限の 80% に達しました',
    reached: '{project} がメールの上限に達しました',
    text: '{server} のプロジェクト {project} は今月、上限 {limit} 通のうち {used} 通を使用しました。この上限の対象：{category}。',
    categories: {
      transactional: 'トランザクションメール',
      campaigns: 'キャンペーンのメール',
      workflows: 'ワークフローのメール',
      inbound: '受信メール',
      shared: 'すべてのメールの合計',
    },
    atLimit: {
      transactional:
        '上限に達すると、翌月（UTC）になるか上限が引き上げられるまで、サーバーはトランザクションメールを受け付けません。',
      campaigns:
        '上限に達すると、キャンペーンは一時停止されます。翌月（UTC）になるか上限が引き上げられると、再開できます。',
      workflows:
        '上限に達すると、翌月（UTC）になるか上限が引き上げられるまで、メールを送信するワークフローのステップは失敗します。その後、再試行できます。',
      inbound: '受信メールは数えるだけです。上限に達した後も、サーバーは受信を続けます。',
      shared:
        '上限に達すると、翌月（UTC）になるかプロジェクトがサブスクリプションに加入するまで、サーバーはこのプロジェクトのメールを送信しません。メールの受信は続きます。',
    },
  },
  sv: {
    warning: '{project} har använt 80 % av sin e-postgräns',
    reached: '{project} har nått sin e-postgräns',
    text: 'Projektet {project} på {server} har använt {used} av {limit} mejl den här månaden. Gränsen gäller: {category}.',
    categories: {
      transactional: 'transaktionsmejl',
      campaigns: 'mejl från kampanjer',
      workflows: 'mejl från arbetsflöden',
      inbound: 'mottagna mejl',
      shared: 'alla mejl tillsammans',
    },
    atLimit: {
      transactional:
        'När gränsen är nådd nekar servern transaktionsmejl tills nästa månad (UTC) börjar eller gränsen höjs.',
      campaigns:
        'När gränsen är nådd pausas kampanjer. De kan återupptas när nästa månad (UTC) börjar eller gränsen höjs.',
      workflows:
        'När gränsen är nådd misslyckas steg i arbetsflöden som skickar mejl tills nästa månad (UTC) börjar eller gränsen höjs. Därefter kan de köras om.',
      inbound: 'Mottagna mejl räknas bara: servern tar emot dem även när gränsen är nådd.',
      shared:
        'När gränsen är nådd skickar servern inga mejl för projektet tills nästa månad (UTC) börjar eller projektet har en prenumeration. Mejl tas fortfarande emot.',
    },
  },
  cy: {
    warning: 'Mae {project} wedi defnyddio 80% o’i derfyn e-byst',
    reached: 'Mae {project} wedi cyrraedd ei derfyn e-byst',
    text: 'Mae’r prosiect {project} ar {server} wedi defnyddio {used} o {limit} e-bost y mis hwn. Mae’r terfyn ar gyfer: {category}.',
    categories: {
      transactional: 'e-byst trafodion',
      campaigns: 'e-byst ymgyrchoedd',
      workflows: 'e-byst llifoedd gwaith',
      inbound: 'e-byst a dderbyniwyd',
      shared: 'yr holl e-byst gyda’i gilydd',
    },
    atLimit: {
      transactional:
        'Ar ôl cyrraedd y terfyn, mae’r gweinydd yn gwrthod e-byst trafodion nes bod y mis nesaf (UTC) yn dechrau neu’r terfyn yn cael ei godi.',
      campaigns:
        'Ar ôl cyrraedd y terfyn, caiff ymgyrchoedd eu seibio. Gellir eu hailddechrau pan fydd y mis nesaf (UTC) yn dechrau neu’r terfyn yn cael ei godi.',
      workflows:
        'Ar ôl cyrraedd y terfyn, mae camau llifoedd gwaith sy’n anfon e-byst yn methu nes bod y mis nesaf (UTC) yn dechrau neu’r terfyn yn cael ei godi. Gellir rhoi cynnig arall arnynt wedyn.',
      inbound:
        'Dim ond cyfrif e-byst a dderbyniwyd a wneir: mae’r gweinydd yn eu derbyn ar ôl cyrraedd y terfyn hefyd.',
      shared:
        'Ar ôl cyrraedd y terfyn, nid yw’r gweinydd yn anfon e-byst ar gyfer y prosiect nes bod y mis nesaf (UTC) yn dechrau neu fod gan y prosiect danysgrifiad. Mae’n dal i dderbyn e-byst.',
    },
  },
}
