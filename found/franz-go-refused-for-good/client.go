// A producer may not write. Then an administrator allows it to, and the application goes on.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	. "github.com/twmb/franz-go/pkg/kmsg"
)

func client() *kgo.Client {
	made, _ := kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP_SERVERS")), kgo.DefaultProduceTopic("orders"))
	return made
}

func write(name string, producer *kgo.Client) {
	fmt.Println(name+":", producer.ProduceSync(context.TODO(), kgo.StringRecord(name)).FirstErr())
}

func main() {
	acl := func(kind ACLResourceType, name string, what ACLOperation, may ACLPermissionType) CreateACLsRequestCreation {
		return CreateACLsRequestCreation{kind, name, 3, "User:*", "*", what, may, Tags{}}
	}
	forbid := CreateACLsRequest{Creations: []CreateACLsRequestCreation{
		acl(4, "kafka-cluster", ACLOperationIdempotentWrite, 2), acl(4, "kafka-cluster", ACLOperationAll, 3),
		acl(2, "*", ACLOperationWrite, 2), acl(2, "*", ACLOperationAll, 3)}}
	allow := DeleteACLsRequest{Filters: []DeleteACLsRequestFilter{{1, nil, 1, nil, nil, 1, 2, Tags{}}}}
	admin, producer := client(), client()
	forbid.RequestWith(context.TODO(), admin)
	time.Sleep(time.Second)
	write("it may not write", producer)
	allow.RequestWith(context.TODO(), admin)
	time.Sleep(time.Second)
	write("it may write", producer)
	write("another producer", admin)
}
